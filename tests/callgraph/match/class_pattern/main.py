class Point:
    def __init__(self, task):
        self.task = task
def f():
    pass
def run(value):
    match value:
        case Point(task=task):
            task()
run(Point(f))
