use super::*;

fn parse(text: &str) -> Result<Table, SourceFault> {
    Table::parse("data", text)
}

fn message<T: std::fmt::Debug>(result: Result<T, SourceFault>) -> String {
    result.unwrap_err().message
}

#[test]
fn a_quote_is_closed() {
    let error = Table::parse("t.csv", "p,kind\n1,\"a\"\n2,\"b\n").unwrap_err();
    assert!(error.message.contains("t.csv: line 3: a cell begins with a quote"), "{error:?}");
    for text in ["p,kind\n1,a\n2,\"b\"", "p,kind\n2,\"b\nc\"\n# \"end\n\n", "p,kind\n2,5\"\n"] {
        assert!(!matches!(Table::parse("t.csv", text), Err(fault) if fault.message.contains("quote")), "{text}");
    }
}

#[test]
fn every_form_gives_the_same_rows() {
    let cells = |p, n, time| {
        [("p", AxisValue::Whole(p)), ("n", AxisValue::Whole(n)), ("time", AxisValue::Real(time))]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec()
    };
    for (text, places) in [
        ("# by hand\np, n,time\n1,8,2.5\n2,8,1.5\n", ["line 3", "line 4"]),
        ("\n# by hand\n\r\np, n,time\r\n\r\n1,8,2.5\n# again\n\n2,8,1.5\n", ["line 6", "line 9"]),
        ("\u{feff}p,n,time\n1,8,2.5\n2,8,1.5\n", ["line 2", "line 3"]),
        (
            "{\"p\":1,\"n\":8,\"time\":2.5,\"meta\":{\"seed\":1}}\n\n{\"p\":2,\"n\":8,\"time\":1.5,\"none\":null}\n",
            ["line 1", "line 3"],
        ),
        ("[{\"p\":1,\"n\":8,\"time\":2.5},\n{\"p\":2,\"n\":8,\"time\":1.5}]", ["row 1", "row 2"]),
        (
            "{\"params\":{\"p\":1,\"n\":8},\"metric\":\"time\",\"value\":2.5}\n{\"params\":{\"p\":2,\"n\":8},\"value\":[1.5]}",
            ["line 1", "line 2"],
        ),
    ] {
        let mut table = parse(text).unwrap();
        assert_eq!(table.quantity(None).unwrap(), "time");
        assert_eq!(table.axes("time").collect::<Vec<_>>(), ["p", "n"]);
        let rows: Vec<_> = table.rows.into_iter().map(|row| (row.place, row.cells)).collect();
        let [first, second] = places.map(str::to_owned);
        assert_eq!(rows, [(first, cells(1, 8, 2.5)), (second, cells(2, 8, 1.5))], "{text}");
    }
}

#[test]
fn faults_name_file_line_and_column() {
    for (text, said) in [
        ("p,time\n", "data: there are no rows"),
        ("p,time,p\n1,2,3\n", "line 1: the column `p` is named twice"),
        ("p,,time\n1,2,3\n", "line 1: column 2 has no name"),
        ("\np,time,p\n1,2,3\n", "line 2: the column `p` is named twice"),
        ("p,time\n\n# one\n1\n", "line 4: there are 1 cells"),
        ("p,time\n1\n", "line 2: there are 1 cells, and the first line names 2 columns"),
        ("p,time\n1,10,13\n", "line 2: there are 3 cells"),
        ("p,\u{1b}[31m\n1,2\n", "line 1: a name holds the control character \\u{1b}"),
        ("p,time\n\u{202e}x,2\n", "line 2: a text holds the control character \\u{202e}"),
        ("{\"p\":1}\n{\"p\":", "line 2"),
        ("{\"p\":1,\"p\":2}", "each name in it once"),
        ("{\"p\":1}\n7", "data: "),
        ("{\"params\":{},\"value\":\"x\"}", "line 1: the `value` `\"x\"` of Extra-P's lines is neither a number"),
    ] {
        let message = message(parse(text));
        assert!(message.starts_with("data: ") && message.contains(said), "{text:?}: {message}");
    }
}

#[test]
fn a_cell_that_is_no_number_is_no_missing_value() {
    for cell in ["1O.13", "\"10,13\"", "abc", "NaN", "inf", "-inf", "1e999"] {
        let mut table = parse(&format!("p,time_s\n1,2\n2,{cell}\n")).unwrap();
        let message = message(table.quantity(None));
        assert!(message.starts_with("data: line 3, column `time_s`: `"), "{cell}: {message}");
    }
    let mut table = parse("p,time_s\n1,2\n2,\n").unwrap();
    assert_eq!(table.quantity(None).unwrap(), "time_s");
    let unused = table.unused("time_s").unwrap();
    assert_eq!(unused, "data: 1 of 2 rows have no `time_s` and are not used: line 3");
    assert!(message(table.need_values([&"time_s".to_owned()])).contains("line 3, column `time_s`: the cell is empty"));
    assert_eq!(table.unused("p"), None);
}

#[test]
fn times_are_brought_into_seconds() {
    let mut table = parse("p,measured_ms\n1,2500\n2,1500\n").unwrap();
    assert_eq!(table.quantity(None).unwrap(), "measured_s");
    assert_eq!(table.rows[0].number("measured_s"), Some(2.5));
    let mut table = parse("p,time_us,time_s\n1,2500,1\n").unwrap();
    assert!(message(table.quantity(Some("time_us"))).contains("one quantity in two units"));
    let mut table = parse("p,rate_bytes_per_s\n1,2500\n").unwrap();
    assert_eq!(table.quantity(Some("rate_bytes_per_s")).unwrap(), "rate_bytes_per_s");
}

#[test]
fn a_point_is_given_once() {
    let columns = ["p".to_owned(), "kind".to_owned()];
    let table = parse("p,kind,time\n4,ring,1\n4,mesh,1\n4.0,ring,2\n").unwrap();
    let message = message(table.need_different_points(&columns));
    assert_eq!(message, "data: line 4: the point p = 4, kind = ring is given twice, also at line 2");
    assert!(table.need_different_points(&[&columns[..], &["time".to_owned()]].concat()).is_ok());
}

#[test]
fn a_missing_column_lists_those_that_there_are() {
    let table = parse("p;measured_s\n1;2\n").unwrap();
    let fault = table.column("measured_s").unwrap_err();
    assert!(fault.message.ends_with("there is no column `measured_s`; its columns are: p;measured_s"));
    assert!(fault.help.unwrap().contains("commas"));
    let fault = parse("p,x\n1,2\n").unwrap().quantity(None).unwrap_err();
    assert!(fault.message.contains("makespan_s") && fault.message.ends_with("its columns are: p, x"));
}

/// A sweep over sizes with units is read like one over numbers of bytes.
#[test]
fn sizes_with_units_are_numbers_of_bytes() {
    let mut table = parse("bytes,note,time\n1 B,2 B,1\n4 KiB,x,2\n7,x,3\nmany,x,4\n").unwrap();
    table.read_sizes("bytes");
    table.read_sizes("absent");
    let column: Vec<_> = table.rows.iter().map(|row| row.value("bytes").cloned().unwrap()).collect();
    let whole = [1, 4096, 7].map(AxisValue::Whole);
    assert_eq!((&column[..3], &column[3]), (&whole[..], &AxisValue::Text("many".to_owned())));
    assert_eq!(table.rows[0].value("note"), Some(&AxisValue::Text("2 B".to_owned())));
    assert!(message(table.need_numbers(["bytes".to_owned()].iter())).contains("`many` is no finite number"));
}

/// Rows of a sweep whose axis has a unit say so, in either format.
#[test]
fn numbers_are_in_the_unit_that_their_rows_name() {
    let json = r#"{"bytes":4,"time":1,"meta":{"seed":1,"units":{"bytes":"KiB"}}}"#;
    for text in [json, "bytes,time,meta.units.bytes\n4,1,KiB\n"] {
        let mut table = parse(text).unwrap();
        table.read_sizes("bytes");
        assert_eq!(table.rows[0].number("bytes"), Some(4096.0), "{text}");
    }
    let mixed = [json, r#"{"bytes":4,"time":1,"meta":{"seed":1}}"#].join("\n");
    for text in [&mixed, "bytes,time,meta.units.bytes\n4,1,KiB\n4,1,MiB\n"] {
        assert!(parse(text).unwrap_err().message.contains("rows differ in the unit of `bytes`"), "{text}");
    }
}
