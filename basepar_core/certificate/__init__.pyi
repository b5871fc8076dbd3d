from .checker import RejectedError as RejectedError
from .description import CertificateError as CertificateError
from .make import certify as certify
from .make import verify as verify
