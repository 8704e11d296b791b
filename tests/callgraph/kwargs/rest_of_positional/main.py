def f():
    pass
def g():
    pass
def run(first, *rest):
    for task in rest:
        task()
run(f, g)
