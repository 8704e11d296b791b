import logging
class Handler(logging.Handler):
    def emit(self, record):
        self.flush()
Handler().emit(None)
