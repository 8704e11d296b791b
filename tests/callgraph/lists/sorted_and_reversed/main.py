def f():
    pass
def g():
    pass
for task in reversed([f]):
    task()
for task in sorted([g], key=id):
    task()
