import argparse
def train(args):
    args.optimizer()
def evaluate(args):
    pass
def sgd():
    pass
def main(argv):
    parser = argparse.ArgumentParser()
    parser.set_defaults(optimizer=sgd)
    commands = parser.add_subparsers()
    commands.add_parser("train").set_defaults(run=train)
    commands.add_parser("evaluate").set_defaults(run=evaluate)
    args = parser.parse_args(argv)
    args.run(args)
main(["train"])
main(["evaluate"])
