"""Programs of ``tf.contrib.autograph.ConversionOptions`` (``recorded``)."""


def _plain(options):
    found = list(options.as_tuple())
    return found[:3] + [sorted(each.name for each in found[3])]


def case_options(tf):
    package = tf.contrib.autograph
    make, feature = package.ConversionOptions, package.Feature
    made = [
        make(), make(True, True), make(optional_features=None),
        make(recursive=True, user_requested=True, optional_features=feature.LISTS),
        make(optional_features=(feature.LISTS, feature.NAME_SCOPES)),
    ]  # fmt: skip
    found = [[_plain(each), _plain(each.call_options())] for each in made]
    found += [[each.uses(feature.LISTS), each.uses(feature.ASSERT_STATEMENTS)] for each in made]
    found += [made[0] == make(), hash(made[0]) == hash(make()), made[0] == made[1]]
    return found
