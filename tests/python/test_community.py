# SPDX-License-Identifier: Apache-2.0
"""Checks the files that a repository host shows: the citation is valid and current, and the changelog has its form."""

from __future__ import annotations

import re
from typing import Any

import pages
import pytest
import yaml

CITATION: dict[str, Any] = yaml.safe_load((pages.ROOT / "CITATION.cff").read_text())
CHANGELOG = (pages.ROOT / "CHANGELOG.md").read_text()
# The Citation File Format 1.2.0: fields that a citation must have, fields it may have here, and both for a reference.
MUST = {"cff-version", "message", "title", "authors"}
MAY = {
    "type",
    "version",
    "license",
    "abstract",
    "keywords",
    "references",
    "date-released",
    "repository-code",
    "url",
    "doi",
}
REFERENCE_MUST = {"type", "title", "authors"}
REFERENCE_MAY = {"journal", "year", "doi", "url", "issue", "institution", "thesis-type"}
PERSON, ENTITY = {"family-names", "given-names"}, {"name"}


def named_well(authors: list[dict[str, str]]) -> bool:
    return bool(authors) and all(set(author) in (PERSON, ENTITY) and all(author.values()) for author in authors)


def test_the_citation_is_valid():
    assert set(CITATION) >= MUST
    assert set(CITATION) <= MUST | MAY
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["type"] in ("software", "dataset")
    assert all(isinstance(CITATION[key], str) and CITATION[key] for key in ("message", "title", "version", "license"))
    assert named_well(CITATION["authors"])
    assert len(set(CITATION["keywords"])) == len(CITATION["keywords"]) > 0
    assert "Apache License" in (pages.ROOT / "LICENSE").read_text()
    assert CITATION["license"] == "Apache-2.0"
    for reference in CITATION["references"]:
        assert set(reference) >= REFERENCE_MUST
        assert set(reference) <= REFERENCE_MUST | REFERENCE_MAY, reference["title"]
        assert reference["type"] in ("article", "thesis")
        assert named_well(reference["authors"])
        assert isinstance(reference["year"], int)
        assert re.fullmatch(r"10\.\d{4,9}/\S+", reference.get("doi", "10.1000/none"))


def test_the_citation_names_the_papers_as_their_page_does():
    page = " ".join((pages.ROOT / "docs/papers.md").read_text().split())
    assert len(CITATION["references"]) == 5
    for reference in CITATION["references"]:
        assert f"*{reference['title']}.*" in page
        for author in reference["authors"]:
            assert author.get("family-names", author.get("name")) in page
        assert reference.get("doi", "") in page
        assert reference.get("url", "") in page
    assert sorted(re.findall(r"doi\.org/([^)\s]+)", page)) == sorted(
        reference["doi"] for reference in CITATION["references"] if "doi" in reference
    )


def test_the_changelog_keeps_its_form():
    versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (unreleased|\d{4}-\d{2}-\d{2})$", CHANGELOG, re.M)
    assert versions
    assert len(versions) == CHANGELOG.count("\n## ")
    numbers = [tuple(map(int, version.split("."))) for version, _ in versions]
    assert numbers == sorted(set(numbers), reverse=True)
    assert all(when != "unreleased" for _, when in versions[1:])
    assert CITATION["version"] == versions[0][0]
    kinds = re.findall(r"^### (.*)$", CHANGELOG, re.M)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@pytest.mark.parametrize("name", ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_no_address_is_given_but_the_repositorys(name):
    text = (pages.ROOT / name).read_text()
    assert not re.search(r"[\w.+-]+@[\w-]+\.\w+|mailto:", text)
