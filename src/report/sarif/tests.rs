use serde_sarif::sarif::Sarif;

use crate::finding::Finding;
use crate::project::Documents;
use crate::report::testing::{ALIASED, ASSIGNED, at, documents, finding, offering, replace, written};
use crate::report::{Format, Options, Report, SourceControl};

fn example() -> (Documents, Finding) {
    let documents = documents(&[
        ("my dir/tr#in.py", "s = '🙂'; opt = Adam()\r\nfor b in data:\r\n\tstep(opt)\r\n"),
        ("util.py", "def step(o):\n    other = o\n"),
    ]);
    let mut finding = finding(&documents, &ASSIGNED, "util.py", "other", "`{a}` has [a](name)")
        .label(at(&documents, "my dir/tr#in.py", "Adam()"), "created here")
        .label(at(&documents, "my dir/tr#in.py", "step(opt)"), "")
        .in_scope("step");
    finding.flow = vec![finding.labels[1].clone(), finding.labels[0].clone()];
    finding.fix = Some(replace(at(&documents, "util.py", "    other = o\n"), "    pass\n"));
    (documents, finding)
}

/// The log as JSON, after a round trip through the types that were generated from the schema.
fn log(report: &Report, documents: &Documents, options: &Options) -> serde_json::Value {
    let text = written(Format::Sarif, report, documents, options);
    let json: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
    let typed: Sarif = serde_json::from_str(&text).expect("has the schema's structure");
    assert_eq!(serde_json::to_value(&typed).expect("serialises"), json, "nothing is lost or renamed");
    json
}

#[test]
fn a_finding_becomes_a_result_with_everything_about_it() {
    let (documents, finding) = example();
    let report = Report::new(vec![finding], Vec::new(), 2, &documents);
    let log = log(&report, &documents, &offering(&report));
    insta::assert_snapshot!(serde_json::to_string_pretty(&log["runs"][0]["results"]).expect("JSON"), @r#"
    [
      {
        "codeFlows": [
          {
            "threadFlows": [
              {
                "locations": [
                  {
                    "location": {
                      "message": {
                        "text": "This place."
                      },
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "my%20dir/tr%23in.py",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "contextRegion": {
                          "endColumn": 1,
                          "endLine": 4,
                          "snippet": {
                            "text": "for b in data:\r\n\tstep(opt)\r\n"
                          },
                          "startColumn": 1,
                          "startLine": 2
                        },
                        "region": {
                          "endColumn": 11,
                          "endLine": 3,
                          "snippet": {
                            "text": "step(opt)"
                          },
                          "startColumn": 2,
                          "startLine": 3
                        }
                      }
                    }
                  },
                  {
                    "location": {
                      "message": {
                        "text": "Created here."
                      },
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "my%20dir/tr%23in.py",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "contextRegion": {
                          "endColumn": 15,
                          "endLine": 2,
                          "snippet": {
                            "text": "s = '🙂'; opt = Adam()\r\nfor b in data:"
                          },
                          "startColumn": 1,
                          "startLine": 1
                        },
                        "region": {
                          "endColumn": 23,
                          "endLine": 1,
                          "snippet": {
                            "text": "Adam()"
                          },
                          "startColumn": 17,
                          "startLine": 1
                        }
                      }
                    }
                  }
                ]
              }
            ]
          }
        ],
        "fixes": [
          {
            "artifactChanges": [
              {
                "artifactLocation": {
                  "uri": "util.py",
                  "uriBaseId": "%SRCROOT%"
                },
                "replacements": [
                  {
                    "deletedRegion": {
                      "endColumn": 14,
                      "endLine": 2,
                      "startColumn": 13,
                      "startLine": 1
                    },
                    "insertedContent": {
                      "text": "\n    pass"
                    }
                  }
                ]
              }
            ],
            "description": {
              "text": "Use the module's own name."
            }
          }
        ],
        "level": "error",
        "locations": [
          {
            "logicalLocations": [
              {
                "fullyQualifiedName": "step"
              }
            ],
            "physicalLocation": {
              "artifactLocation": {
                "uri": "util.py",
                "uriBaseId": "%SRCROOT%"
              },
              "contextRegion": {
                "endColumn": 1,
                "endLine": 3,
                "snippet": {
                  "text": "def step(o):\n    other = o\n"
                },
                "startColumn": 1,
                "startLine": 1
              },
              "region": {
                "endColumn": 10,
                "endLine": 2,
                "snippet": {
                  "text": "other"
                },
                "startColumn": 5,
                "startLine": 2
              }
            }
          }
        ],
        "message": {
          "arguments": [
            "｛a｝"
          ],
          "id": "has-a-name-see-created-here-this-place-da546f46",
          "markdown": "`｛a｝` has [a\\](name). See [created here](1), [this place](2).",
          "text": "'｛a｝' has [a\\](name). See [created here](1), [this place](2)."
        },
        "partialFingerprints": {
          "hvdlintFinding/v1": "d43756c4eef505a8fe677c23a7e7d415",
          "primaryLocationLineHash": "8e22b28011f098b:1"
        },
        "relatedLocations": [
          {
            "id": 1,
            "message": {
              "text": "Created here."
            },
            "physicalLocation": {
              "artifactLocation": {
                "uri": "my%20dir/tr%23in.py",
                "uriBaseId": "%SRCROOT%"
              },
              "contextRegion": {
                "endColumn": 15,
                "endLine": 2,
                "snippet": {
                  "text": "s = '🙂'; opt = Adam()\r\nfor b in data:"
                },
                "startColumn": 1,
                "startLine": 1
              },
              "region": {
                "endColumn": 23,
                "endLine": 1,
                "snippet": {
                  "text": "Adam()"
                },
                "startColumn": 17,
                "startLine": 1
              }
            }
          },
          {
            "id": 2,
            "message": {
              "text": "This place."
            },
            "physicalLocation": {
              "artifactLocation": {
                "uri": "my%20dir/tr%23in.py",
                "uriBaseId": "%SRCROOT%"
              },
              "contextRegion": {
                "endColumn": 1,
                "endLine": 4,
                "snippet": {
                  "text": "for b in data:\r\n\tstep(opt)\r\n"
                },
                "startColumn": 1,
                "startLine": 2
              },
              "region": {
                "endColumn": 11,
                "endLine": 3,
                "snippet": {
                  "text": "step(opt)"
                },
                "startColumn": 2,
                "startLine": 3
              }
            }
          }
        ],
        "ruleId": "HVD005",
        "ruleIndex": 0
      }
    ]
    "#);
}

#[test]
fn the_run_describes_the_tool_the_checks_and_the_columns() {
    let (documents, finding) = example();
    let report = Report::new(vec![finding], Vec::new(), 2, &documents);
    let options = Options {
        exit_code: Some(1),
        source_control: Some(SourceControl {
            repository_uri: "https://example.com/r".to_owned(),
            revision: Some("0123".to_owned()),
            branch: None,
        }),
        ..Options::default()
    };
    let mut log = log(&report, &documents, &options);
    log["runs"][0]["results"].take();
    insta::assert_snapshot!(serde_json::to_string_pretty(&log).expect("JSON"), @r##"
    {
      "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
      "runs": [
        {
          "columnKind": "utf16CodeUnits",
          "invocations": [
            {
              "executionSuccessful": true,
              "exitCode": 1
            }
          ],
          "newlineSequences": [
            "\r\n",
            "\n",
            "\r"
          ],
          "originalUriBaseIds": {
            "%SRCROOT%": {
              "description": {
                "text": "The root of the repository."
              }
            }
          },
          "results": null,
          "tool": {
            "driver": {
              "informationUri": "https://docs.rs/crate/hvdlint/0.1.0",
              "name": "hvdlint",
              "rules": [
                {
                  "defaultConfiguration": {
                    "level": "error"
                  },
                  "fullDescription": {
                    "text": "An optimizer or a dataset has several names. More about it."
                  },
                  "help": {
                    "markdown": "# object-not-assigned-once\n\nAn optimizer or a dataset has *several* names. More about it.\n\n## How to fix it\n\n- Use one name.\n",
                    "text": "object-not-assigned-once\n========================\n\nAn optimizer or a dataset has several names. More about it.\n\nHow to fix it\n-------------\n\n- Use one name.\n"
                  },
                  "helpUri": "https://docs.rs/crate/hvdlint/0.1.0/source/checks/object-not-assigned-once.md",
                  "id": "HVD005",
                  "messageStrings": {
                    "has-a-name-see-created-here-this-place-da546f46": {
                      "markdown": "`{0}` has [a\\](name). See [created here](1), [this place](2).",
                      "text": "'{0}' has [a\\](name). See [created here](1), [this place](2)."
                    }
                  },
                  "name": "ObjectNotAssignedOnce",
                  "properties": {
                    "tags": [
                      "horovod",
                      "restriction",
                      "tensorflow"
                    ],
                    "precision": "high",
                    "problem.severity": "error"
                  },
                  "shortDescription": {
                    "text": "An optimizer or a dataset has several names."
                  }
                }
              ],
              "semanticVersion": "0.1.0"
            }
          },
          "versionControlProvenance": [
            {
              "mappedTo": {
                "uriBaseId": "%SRCROOT%"
              },
              "repositoryUri": "https://example.com/r",
              "revisionId": "0123"
            }
          ]
        }
      ],
      "version": "2.1.0"
    }
    "##);
}

#[test]
fn results_are_there_when_there_are_none() {
    let documents = documents(&[]);
    let log = log(&Report::default(), &documents, &Options::default());
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("array");
    assert_eq!(rules.len(), crate::checks::RULES.len(), "it is said what was looked for");
}

#[test]
fn suppressed_results_come_only_when_wanted_and_then_all_results_say_whether_they_are() {
    let documents = documents(&[("a.py", "one two")]);
    let open = finding(&documents, &ALIASED, "a.py", "two", "m");
    let closed = finding(&documents, &ASSIGNED, "a.py", "one", "m");
    let report = Report::new(vec![open], vec![(closed, "known".to_owned())], 1, &documents);

    let hidden = log(&report, &documents, &Options::default());
    let results = hidden["runs"][0]["results"].as_array().expect("array");
    assert_eq!(results.len(), 1);
    assert!(results[0].get("suppressions").is_none());

    let shown = log(&report, &documents, &Options { show_suppressed: true, ..Options::default() });
    let results = &shown["runs"][0]["results"];
    assert_eq!(
        results[0]["suppressions"],
        serde_json::json!([{"justification": "known", "kind": "inSource"}])
    );
    assert_eq!(results[1]["suppressions"], serde_json::json!([]));
    assert_eq!(results[1]["ruleId"], "HVD003");
    assert_eq!(results[1]["ruleIndex"], 0);
}

#[test]
fn a_place_that_is_the_whole_file_has_no_context() {
    let documents = documents(&[("a.py", "one"), ("b.py", "")]);
    let findings = vec![
        finding(&documents, &ALIASED, "a.py", "one", "m"),
        finding(&documents, &ALIASED, "b.py", "", "m"),
    ];
    let log = log(&Report::new(findings, Vec::new(), 2, &documents), &documents, &Options::default());
    for index in 0..2 {
        let place = &log["runs"][0]["results"][index]["locations"][0]["physicalLocation"];
        assert!(place.get("contextRegion").is_none());
        assert_eq!(place["region"]["startLine"], 1);
    }
}
