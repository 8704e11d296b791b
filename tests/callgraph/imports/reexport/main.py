from pack import run, other
run()
other.g()
