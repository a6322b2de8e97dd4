"""What datasheets say about GPUs: limits per compute capability, device cards, CUDA's rules.

Every number carries the document it was read in. A number that no document confirms is left out.
"""

from gpu_course.hardware.cards import DeviceCard, device, devices
from gpu_course.hardware.compatibility import (
    ToolkitRule,
    driver_suffices,
    minimum_driver,
    runs_on,
    toolkit_rule,
)
from gpu_course.hardware.compute_capability import (
    ComputeCapability,
    capabilities,
    capability,
    parse_version,
)
from gpu_course.hardware.sources import Source

__all__ = [
    "ComputeCapability",
    "DeviceCard",
    "Source",
    "ToolkitRule",
    "capabilities",
    "capability",
    "device",
    "devices",
    "driver_suffices",
    "minimum_driver",
    "parse_version",
    "runs_on",
    "toolkit_rule",
]
