class Base:
    def run(self):
        self.step()
