import tools
def run(module):
    module.f()
run(tools)
