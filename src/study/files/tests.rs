use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_complete_or_as_it_was() {
    let folder = folder();
    let file = folder.path().join("file");
    let half =
        |sink: &mut OutputFile| sink.write_all(b"half").and_then(|()| sink.flush()).and(Err(io::Error::other("full")));
    assert!(matches!(create(&file, half), Err(FileError::Unwritable(message)) if message.ends_with("full")));
    assert!(names(folder.path()).is_empty());
    create(&file, |sink| sink.write_all(b"all")).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"all");
    assert!(create(&file, half).is_err());
    assert_eq!((fs::read(&file).unwrap(), names(folder.path())), (b"all".to_vec(), vec!["file".to_owned()]));
    assert!(create(folder.path(), |_| Ok(())).is_err() && folder.path().is_dir());
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "older").unwrap();
    create_with(&file, |sink| {
        sink.write_all(b"newer").unwrap();
        sink.flush().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"older");
        Ok::<_, FileError>(())
    })
    .unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"newer");
}

#[cfg(unix)]
#[test]
fn rights_and_links_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "older").unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    symlink("file", &link).unwrap();
    create(&link, |sink| sink.write_all(b"newer")).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"newer");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    create(Path::new("/dev/null"), |sink| sink.write_all(b"nothing")).unwrap();
}

#[test]
fn missing_folders_are_made_before_the_work() {
    let folder = folder();
    let file = folder.path().join("a/b/file");
    let pictures = folder.path().join("c/d");
    let folders = OutputClaims::default().output("-o", Some(&file)).folder(Some(&pictures)).check().unwrap();
    assert!(names(file.parent().unwrap()).is_empty() && pictures.is_dir());
    drop(folders);
    assert!(names(folder.path()).is_empty());
    let folders = OutputClaims::default().output("-o", Some(&file)).folder(Some(&pictures)).check().unwrap();
    fs::write(&file, "").unwrap();
    drop(folders);
    assert!(file.is_file() && !folder.path().join("c").exists());
    let below = file.join("no/folder");
    assert!(matches!(OutputClaims::default().output("-o", Some(&below)).check(), Err(FileError::Unwritable(_))));
}

#[cfg(unix)]
#[test]
fn an_output_is_neither_an_input_nor_another_output() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("in"), "scenario").unwrap();
    fs::hard_link(at("in"), at("hard")).unwrap();
    std::os::unix::fs::symlink("in", at("soft")).unwrap();
    std::os::unix::fs::symlink("new", at("dangling")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    let refused = |claims: OutputClaims| match claims.check() {
        Err(FileError::InvalidPath(message)) => message,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("the output is accepted"),
    };
    for name in ["in", "hard", "soft", "folder/../in"] {
        let claims = OutputClaims::default().inputs([at("in")]).output("--trace", Some(&at(name)));
        assert!(refused(claims).contains("read by the command"), "{name}");
    }
    for (one, other) in [("new", "new"), ("new", "dangling"), ("new", "folder/../new"), ("hard", "soft")] {
        let claims = OutputClaims::default().output("-o", Some(&at(one))).output("--trace", Some(&at(other)));
        assert!(refused(claims).contains("-o writes to the same file"), "{one} {other}");
    }
    let null = Path::new("/dev/null");
    let _ = OutputClaims::default().output("-o", Some(null)).output("--trace", Some(null)).check().unwrap();
    assert_eq!(fs::read(at("in")).unwrap(), b"scenario");
}
