"""Checks of what training needs: packages, graphics cards, vLLM."""

from importlib import metadata, util

from packaging.requirements import Requirement

from coach_gym.cli.checks.finding import Finding, Host, run


def packages(name: str, extra: str) -> Finding:
    """Checks that the requirements of coach-gym, or of one of its extras, are installed in usable versions."""
    wanted = [Requirement(text) for text in metadata.requires("coach-gym") or []]
    mine = [r for r in wanted if _applies(r, extra) and (not extra or not _applies(r, ""))]
    wrong = [str(requirement).partition(";")[0].strip() for requirement in mine if not _installed(requirement)]
    product = f"coach-gym[{extra}]" if extra else "coach-gym"
    mend = f"pip install '{product}'"
    if not mine:
        return Finding(name, "not checked", f"the installed coach-gym does not declare what {product} requires", mend)
    if wrong:
        return Finding(name, "missing", ", ".join(wrong), mend)
    return Finding(name, "ok", f"all {len(mine)} requirements of {product}")


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _installed(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(metadata.version(requirement.name), prereleases=True)
    except metadata.PackageNotFoundError:
        return False


def gpu(host: Host) -> Finding:
    """Checks for NVIDIA cards, and that the installed PyTorch can use them."""
    program = host.program("nvidia-smi")
    if program is None:
        mend = "the pocket model trains on a CPU; larger models need an NVIDIA card with its driver"
        return Finding("GPU", "missing", "there is no nvidia-smi", mend)
    code, text = run(program, "--query-gpu=name,memory.total", "--format=csv,noheader")
    if code != 0:
        return Finding("GPU", "missing", f"nvidia-smi fails: {text[:100]}", "install the driver of the card")
    cards, torch = "; ".join(text.splitlines()), metadata.version("torch")
    if "+cpu" in torch:
        mend = "pip install --force-reinstall torch"
        return Finding("GPU", "missing", f"{cards}, but PyTorch {torch} has no CUDA", mend)
    return Finding("GPU", "ok", f"{cards}, PyTorch {torch}")


def vllm() -> Finding:
    """Checks that vLLM, which generates fast on GPUs, is installed."""
    if util.find_spec("vllm") is None:
        return Finding("vLLM", "missing", "the package is not installed", "pip install 'coach-gym[vllm]'")
    return Finding("vLLM", "ok", "the package is installed; not tried on this card")
