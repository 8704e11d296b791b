def f():
    pass
def run(**options):
    options["task"]()
run(task=f, other=1)
