def f():
    pass
def tasks():
    yield f
for task in tasks():
    task()
