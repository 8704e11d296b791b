def f():
    pass
def run(**options):
    task = options.pop("task")
    task()
run(task=f)
