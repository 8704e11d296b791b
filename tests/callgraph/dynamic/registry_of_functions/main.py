TASKS = {}
def task(f):
    TASKS[f.__name__] = f
    return f
@task
def clean():
    pass
def main():
    TASKS["clean"]()
main()
