from .checker import RejectedError as RejectedError
from .checker import Verdict as Verdict
from .description import CertificateError as CertificateError
from .make import certify as certify
from .make import verify as verify
