from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.task import Task
from shopping_list.app import PATH


class BuyItem(Task):
    apps = ("Shopping",)
    template = "Add {item} to the shopping list."
    budget = 10  # steps, about twice what the expert needs

    @classmethod
    def sample(cls, rng):
        item, *others = words.NOUNS.draw_many(rng, 3)
        return {"item": item, "others": others}

    def setup(self, device):
        with device.database(PATH) as db:
            db.executemany("INSERT INTO item VALUES (?)", [(name,) for name in self.params["others"]])

    def evaluate(self, device, answer):
        with device.database(PATH) as db:
            names = [name for (name,) in db.execute("SELECT name FROM item")]
        return float(sorted(names) == sorted([*self.params["others"], self.params["item"]]))


TASKS = (BuyItem,)
