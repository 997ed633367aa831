//! Advice on invalid command lines: the commands that have the option which this command lacks.

use super::CommandLine;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

/// Adds fitting advice to an error.
pub fn on(mut error: clap::Error) -> clap::Error {
    if let Some(advice) = on_unknown_option(&error) {
        error.remove(ContextKind::SuggestedArg);
        // It would consist of the arguments that were given.
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(advice)]));
    }
    error
}

/// Returns a sentence that names the commands with the unknown option of this error.
fn on_unknown_option(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let option = given.split('=').next()?;
    let line = CommandLine::command();
    let owners: Vec<_> = line.get_subcommands().flat_map(|command| owners(command, option)).collect();
    let instead = match option {
        "--over" => "; one value is set by `--set PATH=VALUE`",
        "--ranks" => "; the number of ranks is set by `--set ranks=N`",
        _ => "",
    };
    let (last, others) = owners.split_last()?;
    let commands =
        if others.is_empty() { format!("`{last}`") } else { format!("`{}` and `{last}`", others.join("`, `")) };
    Some(format!("`{option}` belongs to {commands}{instead}"))
}

/// Returns the names of the command and its sub-commands that have the option.
fn owners(command: &Command, option: &str) -> Vec<String> {
    let is_it = |argument: &clap::Arg| match option.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => argument.get_short().is_some_and(|short| option == format!("-{short}")),
    };
    let name = command.get_name();
    let own = command.get_arguments().any(is_it).then(|| name.to_owned());
    let inner = command.get_subcommands().flat_map(|inner| owners(inner, option));
    own.into_iter().chain(inner.map(|inner| format!("{name} {inner}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn told(words: &str) -> String {
        on(CommandLine::try_parse_from(words.split(' ')).unwrap_err()).to_string()
    }

    #[test]
    fn an_option_of_another_command_is_known_as_such() {
        let text = told("parsim run a.ron --over p=2");
        assert!(text.contains("`--over` belongs to") && text.contains("`sweep`") && text.contains("--set"), "{text}");
        assert!(!text.contains("similar") && !text.contains("Usage"), "{text}");
        assert!(told("parsim run a.ron --space-time=x.svg").contains("belongs to `critical-path`"));
        assert!(told("parsim laws --p 4").contains("`laws amdahl`, "));
        assert!(told("parsim run a.ron --sed 3").contains("'--seed'"));
    }
}
