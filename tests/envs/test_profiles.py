"""AndroidWorld's phone and AndroidLab's: which apps they have, and that an app on both is one app."""

from importlib import import_module

import pytest

from coach_gym.envs.apps.clock.app import Clock
from coach_gym.envs.apps.contacts.app import Contacts
from coach_gym.envs.apps.settings.app import Settings
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.app import App
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.profiles import ANDROID_LAB, ANDROID_WORLD, Profile, lab_phone, world_phone
from coach_gym.ui import compress

PROFILES = [ANDROID_WORLD, ANDROID_LAB]
BOTH = {"Clock": Clock, "Contacts": Contacts, "Settings": Settings}


@pytest.fixture(scope="module", params=PROFILES, ids=lambda profile: profile.name)
def profile(request):
    return request.param


@pytest.fixture(scope="module")
def phone(profile):
    return profile.phone(270, 600)


def test_every_module_makes_an_app_and_the_home_screen_shows_them_in_order(profile, phone):
    assert len(phone.apps) == len(profile.modules), "two apps have one package"
    assert all(isinstance(app, App) for app in phone.apps.values())
    packages = [import_module(module).APP(phone).package for module in profile.modules]
    assert list(phone.apps) == packages


def test_names_tell_apps_apart(phone):
    labels = [app.label.casefold() for app in phone.apps.values()]
    assert len(set(labels)) == len(labels)
    assert all(phone.app_named(f" {label.upper()} ") is not None for label in labels)


def test_every_app_opens_and_returns_home(profile):
    phone = profile.phone(270, 600)
    for package, app in phone.apps.items():
        phone.launch(package)
        assert phone.foreground == package and compress(phone.ui()), app.label
        phone.key("HOME")
        assert phone.foreground == phone.launcher.package


def test_two_phones_of_a_kind_are_equal(profile):
    first, second = profile.phone(270, 600), profile.phone(270, 600)
    assert (first.screenshot() == second.screenshot()).all()
    assert first.storage.snapshot() == second.storage.snapshot()


def test_packages_hold_everything_of_an_app(profile):
    assert len(profile.packages) == len(profile.modules)
    assert "coach_gym.envs.apps.clock" in profile.packages and "coach_gym.envs.apps.markor" in profile.packages


@pytest.mark.parametrize(("label", "kind"), BOTH.items())
def test_an_app_on_both_phones_is_one_class_with_other_data(label, kind):
    apps = [phone.app_named(label) for phone in (world_phone(270, 600), lab_phone(270, 600))]
    assert [type(app) for app in apps] == [kind, kind]
    assert apps[0].edition != apps[1].edition and apps[0].package == apps[1].package


def test_what_is_on_the_new_phones():
    books = [phone.storage.database(contacts.PATH) for phone in (world_phone(270, 600), lab_phone(270, 600))]
    assert [[contact.name for contact in contacts.everybody(book)] for book in books] == [[], ["AAA", "ABC", "Li"]]


def test_further_apps_come_last_and_leave_the_profile_alone():
    extended = ANDROID_LAB.with_apps(["coach_gym.envs.apps.recipes", "coach_gym.envs.apps.tasks"])
    assert [app.label for app in extended.phone(270, 600).apps.values()][-2:] == ["Broccoli", "Tasks"]
    assert extended.modules[: len(ANDROID_LAB.modules)] == ANDROID_LAB.modules
    assert ANDROID_LAB.with_apps([]) == ANDROID_LAB


def test_a_device_is_a_phone_of_its_profile():
    device = PhoneDevice(270, 600, Profile("todo", ("coach_gym.envs.apps.tasks.app",)))
    assert [app.label for app in device.phone.apps.values()] == ["Tasks"] and device.size == (270, 600)
