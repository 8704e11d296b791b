def f():
    pass
def g():
    pass
def run(command):
    match command:
        case ["f", task]:
            task()
        case {"g": task}:
            task()
        case _:
            pass
run(["f", f])
run({"g": g})
