from config import settings
def run():
    settings.load()
run()
