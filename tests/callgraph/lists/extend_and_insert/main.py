def f():
    pass
def g():
    pass
tasks = []
tasks.extend([f])
tasks.insert(0, g)
for task in tasks:
    task()
