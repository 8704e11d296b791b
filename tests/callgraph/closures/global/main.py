def f():
    pass
task = None
def setup():
    global task
    task = f
def run():
    task()
setup()
run()
