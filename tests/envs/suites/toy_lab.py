"""A checkout laid out as AndroidLab's is, with two apps, a few tasks and judges of our own."""

import json

CONFIG = """
APP: clock
package: Clock
tasks:
  - {task_id: toy_1, task: Turn the 9AM alarm on, metric_type: operation, metric_func: evaluation.tasks.toy}
  - {task_id: toy_2, task: "How many alarms are on?", metric_type: query_detect, metric_func: evaluation.tasks.toy}
  - {task_id: toy_3, task: Open the clock, metric_type: operation, metric_func: evaluation.tasks.toy,
     adb_query: "adb shell settings list system | grep time_12"}
  - {task_id: toy_4, task: Break the judge, metric_type: operation, metric_func: evaluation.tasks.toy}
"""
BASE = '''
import jsonlines
from evaluation.definition import *
from evaluation.utils import *
from utils_mobile.utils import get_compressed_xml

class SingleTask:
    def __init__(self, args):
        self.final_ground_truth, self.args = None, args

    def save_answer(self, answer):
        self.final_ground_truth = answer

    def check_answer(self, line):
        if line["parsed_action"]["action"] != "finish":
            return False
        try:
            answer = line["parsed_action"]["kwargs"]["message"]
            return bool(detect_answer(line["target"], answer, self.final_ground_truth, self.args))
        except:
            return False
'''
UTILS = """
from evaluation.docker_utils import execute_adb_command

def keys(tree):
    for key, value in tree.items():
        yield key
        if isinstance(value, dict):
            yield from keys(value)
"""
JUDGES = '''
from evaluation.task import *

class Switched(SingleTask):
    def judge(self, tree, line):
        state = [key for key in keys(tree) if "Switch" in key and "Alarm" in key]
        if not state:
            return {"judge_page": False}
        on = "unchecked" not in state[1]
        return {"judge_page": True, "1": on, "2": "9:00" in "".join(keys(tree)), "complete": on}

class Answered(SingleTask):
    def judge(self, tree, line):
        self.save_answer("Two alarms")
        right = self.check_answer(line)
        return {"judge_page": True, "1": right, "complete": right}

class Queried(SingleTask):
    def judge(self, tree, line):
        output = line["command"]["adb shell settings list system | grep time_12"]
        return {"judge_page": True, "1": output, "complete": output == "time_12_24=12"}

class Broken(SingleTask):
    def judge(self, tree, line):
        return tree["no such key"]
'''
MAP = """
from .toy import *
function_map = {"toy_1": Switched, "toy_2": Answered, "toy_3": Queried, "toy_4": Broken}
"""
PACKAGES = """
apps = {"Clock": "com.google.android.deskclock", "Other App": "org.other"}
from Levenshtein import distance
"""
KEYS = "raise SystemExit('a module that holds keys was imported')"


def write(folder):
    """Makes the checkout; whoever imports a module with keys in it fails."""
    files = {
        "evaluation/__init__.py": "", "evaluation/task.py": BASE, "evaluation/utils.py": UTILS,
        "evaluation/definition.py": KEYS, "evaluation/docker_utils.py": KEYS, "utils_mobile/utils.py": KEYS,
        "evaluation/tasks/__init__.py": "", "evaluation/tasks/toy/__init__.py": MAP,
        "evaluation/tasks/toy/toy.py": JUDGES, "evaluation/config/toy.yaml": CONFIG, "templates/packages.py": PACKAGES,
        "evaluation/tasks/human_ground_turth/ground_truth_length.json": json.dumps({f"toy_{n}": n for n in range(9)}),
    }  # fmt: skip
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
