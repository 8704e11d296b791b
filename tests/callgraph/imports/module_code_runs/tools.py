def f():
    pass
def make():
    return {"f": f}
table = make()
