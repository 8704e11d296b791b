def f():
    pass
def g():
    pass
def run(one, two):
    two()
options = {"one": f, "two": g}
run(**options)
