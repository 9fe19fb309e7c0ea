package main

import (
	"os"
	"strings"
	"testing"
)

func TestLicencesAreKnownByTheirText(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\nVersion 2.0, January 2004":                                                                      "Apache-2.0",
		"Licensed under the Apache License, Version 2.0":                                                                 "Apache-2.0",
		"Permission is hereby granted, free of charge, to any person\nobtaining a copy":                                  "MIT",
		"Redistribution and use in source and binary forms … Neither the name of":                                        "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with or without modification":                                "BSD-2-Clause",
		"the Apache License, Version 2.0 … Permission is hereby granted, free of charge, to any person obtaining a copy": "Apache-2.0 AND MIT",
		"All rights reserved.": "",
	} {
		if got, err := licenceOf(text); got != want || (err == nil) != (want != "") {
			t.Errorf("licenceOf(%q) = %q, %v, not %q", text, got, err, want)
		}
	}
}

// TestPackagingFileSaysWhatIsSaidHere compares what stands twice, as nfpm's file
// takes no variable there.
func TestPackagingFileSaysWhatIsSaidHere(t *testing.T) {
	text, err := os.ReadFile("../nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"maintainer: " + maintainer, `release: "` + packageRelease + `"`, "changelog: " + buildDir + "/stage/changelog.yaml"} {
		if !strings.Contains(string(text), line+"\n") {
			t.Errorf("nfpm.yaml lacks the line %s", line)
		}
	}
}
