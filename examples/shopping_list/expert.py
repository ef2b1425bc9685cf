from coach_gym.envs.tasks.screen import expert


@expert("BuyItem")
def buy(screen, params):
    yield from screen.open("Shopping")
    yield screen.tap("Add item")
    yield from screen.fill("Name", params["item"])
    yield screen.tap("Add")
