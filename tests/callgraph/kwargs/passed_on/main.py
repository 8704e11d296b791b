def f():
    pass
def inner(task=None):
    task()
def outer(*args, **kwargs):
    inner(*args, **kwargs)
outer(task=f)
