// The program of scenarios/peers/gauss-jordan.ron in SimGrid, on the machine of scenarios/peers/machine.ron; see
// docs/simulators.md.
#include <simgrid/s4u.hpp>
#include <cstring>
#include <string>
#include <vector>
namespace sg4 = simgrid::s4u;

static int n, p;
static bool early; // the data move before the receiver asks for them

static void process(int rank) {
    std::vector<sg4::Mailbox*> boxes;
    for (int other = 0; other < p; other++) boxes.push_back(sg4::Mailbox::by_name(std::to_string(other)));
    if (early) boxes[rank]->set_receiver(sg4::Actor::self());
    static double row;
    for (int step = 0; step < n; step++) {
        int owner = step / (n / p);
        if (rank == owner) {
            for (int other = 0; other < p; other++)
                if (other != owner) boxes[other]->put(&row, 8 * (n + 1));
        } else {
            boxes[rank]->get<double>();
        }
        sg4::this_actor::execute(2.0 * n * (n / p));
    }
}

// A mesh as square as possible, rows first, or links of its own for every pair.
static void build(bool mesh, const char* latency, bool contention) {
    auto* zone = sg4::create_full_zone("machine");
    std::vector<sg4::Host*> hosts;
    for (int rank = 0; rank < p; rank++) hosts.push_back(zone->create_host("h" + std::to_string(rank), "1Mf"));
    int rows = 1;
    for (int r = 1; r * r <= p; r++)
        if (p % r == 0) rows = r;
    int columns = p / rows;
    auto link = [&](int from, int to) {
        std::string name = std::to_string(from) + "-" + std::to_string(to);
        if (auto* known = sg4::Link::by_name_or_null(name)) return known;
        auto* link = zone->create_link(name, "2MBps")->set_latency(latency);
        if (!contention) link->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
        return link->seal();
    };
    for (int from = 0; from < p; from++) {
        for (int to = 0; to < p; to++) {
            if (from == to) continue;
            std::vector<sg4::LinkInRoute> route;
            for (int at = from; at != to;) {
                int column = at % columns, target = to % columns;
                int next = column < target ? at + 1 : column > target ? at - 1 : at < to ? at + columns : at - columns;
                if (!mesh) next = to;
                route.emplace_back(link(at, next));
                at = next;
            }
            zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
        }
    }
    zone->seal();
    for (int rank = 0; rank < p; rank++) sg4::Actor::create("p" + std::to_string(rank), hosts[rank], process, rank);
}

// gauss_jordan N P LATENCY [mesh] [early] [no-contention] [--cfg=...]
int main(int argc, char** argv) {
    sg4::Engine engine(&argc, argv);
    n = atoi(argv[1]), p = atoi(argv[2]);
    auto has = [&](const char* word) {
        for (int i = 4; i < argc; i++)
            if (!strcmp(argv[i], word)) return true;
        return false;
    };
    early = has("early");
    build(has("mesh"), argv[3], !has("no-contention"));
    engine.run();
    printf("%.6f\n", sg4::Engine::get_clock());
}
