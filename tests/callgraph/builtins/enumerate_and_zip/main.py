def f():
    pass
def g():
    pass
for i, task in enumerate([f]):
    task()
for one, two in zip([f], [g]):
    two()
