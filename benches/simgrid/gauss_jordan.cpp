// Naive Gauss-Jordan with n = 512 on the 8 x 16 mesh in SimGrid (flow level), to compare CPU times in one run; see
// docs/performance.md. As in scenarios/gauss-jordan-naive.ron every step's owner sends the pivot row of 8 n bytes to all
// others, one after the other, and all update their rows; links, routes and rates are alike, not equal.
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>
namespace sg4 = simgrid::s4u;

constexpr int ROWS = 8, COLUMNS = 16, RANKS = ROWS * COLUMNS, N = 512;
constexpr double ROW_BYTES = 8.0 * N, FLOPS_PER_ROW = 2.0 * N;

static void process(int rank) {
    std::vector<sg4::Mailbox*> boxes;
    for (int other = 0; other < RANKS; other++) boxes.push_back(sg4::Mailbox::by_name(std::to_string(other)));
    static double row;
    for (int step = 0; step < N; step++) {
        int owner = step / (N / RANKS);
        if (rank == owner) {
            for (int other = 0; other < RANKS; other++)
                if (other != owner) boxes[other]->put(&row, ROW_BYTES);
        } else {
            boxes[rank]->get<double>();
        }
        sg4::this_actor::execute(FLOPS_PER_ROW * (N / RANKS));
    }
}

int main(int argc, char** argv) {
    sg4::Engine engine(&argc, argv);
    auto* zone = sg4::create_full_zone("mesh");
    std::vector<sg4::Host*> hosts;
    for (int rank = 0; rank < RANKS; rank++) hosts.push_back(zone->create_host("h" + std::to_string(rank), "1Mf"));
    auto link = [&](int from, int to) {
        std::string name = std::to_string(from) + "-" + std::to_string(to);
        auto* known = sg4::Link::by_name_or_null(name);
        return known ? known : zone->create_link(name, "1.47MBps")->set_latency("5us")->seal();
    };
    for (int from = 0; from < RANKS; from++) {
        for (int to = 0; to < RANKS; to++) {
            if (from == to) continue;
            std::vector<sg4::LinkInRoute> route;
            for (int at = from; at != to;) {
                int column = at % COLUMNS, target = to % COLUMNS;
                int next = column < target ? at + 1 : column > target ? at - 1 : at < to ? at + COLUMNS : at - COLUMNS;
                route.emplace_back(link(at, next));
                at = next;
            }
            zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
        }
    }
    zone->seal();
    for (int rank = 0; rank < RANKS; rank++) sg4::Actor::create("p" + std::to_string(rank), hosts[rank], process, rank);
    engine.run();
    printf("%f s simulated\n", sg4::Engine::get_clock());
}
