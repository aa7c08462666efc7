"""Records what the reference validator says about the cases in cases.jsonl.

    pip install skills-ref==0.1.1
    python record.py            # writes the verdicts anew
    python record.py --check    # exits 1 when one is not what it was

A case is a line with the `folder` and the `content` of a SKILL.md. The verdict
is `valid`, and `properties` when the reference can read the file. A case at
which the reference crashes is no case: nobody can agree with a crash. The
verdicts were recorded with Python 3.11, whose Unicode tables are those of
version 14; names with letters that are younger depend on the Python.
"""

import json
import pathlib
import sys
import tempfile

from skills_ref.errors import SkillError
from skills_ref.parser import read_properties
from skills_ref.validator import validate

CASES = pathlib.Path(__file__).with_name("cases.jsonl")


def verdict(folder, content):
    """The case with what the reference says, from a real folder."""
    with tempfile.TemporaryDirectory() as root:
        skill = pathlib.Path(root, folder)
        skill.mkdir()
        (skill / "SKILL.md").write_bytes(content.encode())
        valid = not validate(skill)
        try:
            # As its command line prints them, where two halves of a character
            # that were escaped one by one are one again.
            printed = json.dumps(read_properties(skill).to_dict())
            properties = json.loads(printed)
        except SkillError:
            properties = None
    return {
        "folder": folder,
        "content": content,
        "valid": valid,
        "properties": properties,
    }


def main():
    lines = CASES.read_text(encoding="utf-8").split("\n")
    cases = [json.loads(line) for line in lines if line]
    now = [verdict(case["folder"], case["content"]) for case in cases]
    if "--check" not in sys.argv:
        text = "".join(json.dumps(case) + "\n" for case in now)
        CASES.write_text(text, encoding="utf-8")
        return 0
    changed = [case for case, old in zip(now, cases) if case != old]
    for case in changed:
        print("differs:", json.dumps(case))
    print(f"{len(cases)} cases, {len(changed)} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
