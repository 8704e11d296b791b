class Tasks:
    def __iter__(self):
        yield f
def f():
    pass
def run():
    for task in Tasks():
        task()
run()
