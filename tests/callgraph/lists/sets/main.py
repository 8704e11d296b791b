def f():
    pass
for task in {f}:
    task()
