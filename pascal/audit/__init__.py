"""The audit: the paper's numbers beside its equations and what was measured here."""

from pascal.audit.audit import AuditRow, Measured, audit, audit_rows
from pascal.audit.claims import AUDIT_NETWORKS
from pascal.audit.hardware import measured_hardware
from pascal.audit.recorded import measured_records

__all__ = ["AUDIT_NETWORKS", "AuditRow", "Measured", "audit", "audit_rows", "measured_hardware", "measured_records"]
