"""Spoken words from folders of WAV files: features, training, freezing and the small programs."""

from __future__ import annotations

import argparse
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.models.tutorials import (
    speech_files,
    speech_freeze,
    speech_input,
    speech_models,
    speech_train,
)
from penstock.models.tutorials.speech_processor import AudioProcessor
from penstock.python import tree

RATE, LENGTH = 1000, 100
PITCHES = {"low": 0.15, "high": 1.5, "other": 0.7}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten speakers of three words, each a tone, and noise."""
    random = np.random.RandomState(1)
    for word, pitch in PITCHES.items():
        (tmp_path / word).mkdir()
        for speaker in range(12):
            wave = 0.5 * np.sin(pitch * np.arange(LENGTH) + speaker)
            path = tmp_path / word / f"s{speaker}_nohash_0.wav"
            speech_input.save_wav_file(str(path), wave, RATE)
    (tmp_path / "_background_noise_").mkdir()
    noise = random.uniform(-1, 1, 3 * LENGTH)
    speech_input.save_wav_file(str(tmp_path / "_background_noise_" / "n.wav"), noise, RATE)
    return tmp_path


def settings(preprocess: str = "average") -> speech_models.Settings:
    return speech_models.prepare_model_settings(4, RATE, LENGTH, 20, 10, 5, preprocess)


def processor(folder: Path, **more: str) -> AudioProcessor:
    words = ["low", "high"]
    return AudioProcessor("", str(folder), 20, 50, words, 30, 30, settings(), **more)


def test_the_parts(folder: Path) -> None:
    audio, again = processor(folder), processor(folder)
    assert audio.data_index == again.data_index
    for part, recordings in audio.data_index.items():
        labels = [each["label"] for each in recordings]
        wanted = labels.count("low") + labels.count("high")
        assert labels.count("low") == labels.count("high")
        assert labels.count("_silence_") == np.ceil(wanted * 0.2)
        speakers = [speech_input.which_set(each["file"], 30, 30) for each in recordings]
        silent = [label == "_silence_" for label in labels]
        assert all(quiet or found == part for quiet, found in zip(silent, speakers))
    assert audio.words_list == ["_silence_", "_unknown_", "low", "high"]
    assert audio.word_to_index == {
        "_silence_": 0, "_unknown_": 1, "low": 2, "high": 3, "other": 1,
    }  # fmt: skip
    assert len(audio.background_data) == 1 and len(audio.background_data[0]) == 3 * LENGTH


def test_features_are_means_of_the_spectrum(folder: Path) -> None:
    audio, made = processor(folder), settings()
    path = str(folder / "low" / "s1_nohash_0.wav")
    with tf.Session() as session:
        (found,) = audio.get_features_for_wav(path, made, session)
    samples = speech_input.load_wav_file(path)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(20) / 20)
    rows = [np.abs(np.fft.rfft(samples[i : i + 20] * window, 32)) ** 2 for i in range(0, 81, 10)]
    width = made["average_window_width"]
    padded = 17 + -17 % width
    assert made["spectrogram_length"] == len(rows) and padded // width == made["fingerprint_width"]
    # SAME pads less in front, and what is padded does not count.
    front = (padded - 17) // 2
    bins = np.pad(np.array(rows), [(0, 0), (front, padded - 17 - front)], constant_values=np.nan)
    want = np.nanmean(bins.reshape(len(rows), -1, width), 2)
    np.testing.assert_allclose(found[0, :, :, 0], want, rtol=1e-3, atol=1e-4)


def test_examples(folder: Path) -> None:
    audio, made = processor(folder), settings()
    with tf.Session() as session:
        data, labels = audio.get_data(7, 0, made, 0.5, 0.1, 10, "training", session)
        every, _ = audio.get_data(-1, 0, made, 0, 0, 0, "testing", session)
        same, _ = audio.get_data(1, 1, made, 0, 0, 0, "testing", session)
    assert data.shape == (7, made["fingerprint_size"]) and set(labels) <= {0, 1, 2, 3}
    assert len(every) == audio.set_size("testing") and (data.max(1) > 0).all()
    loud = [each["label"] != "_silence_" for each in audio.data_index["testing"]]
    assert loud[1], loud
    np.testing.assert_array_equal(same[0], every[1])
    samples, words = audio.get_unprocessed_data(-1, made, "training")
    for each, wave, word in zip(audio.data_index["training"], samples, words):
        assert word == {"other": "_unknown_"}.get(each["label"], each["label"])
        assert (np.abs(wave).max() > 0.4) == (word != "_silence_")


def test_what_is_missing_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"No \.wavs found.*put a folder of WAV files"):
        AudioProcessor("", str(tmp_path / "none"), 0, 0, ["a"], 0, 0, settings())
    with pytest.raises(FileNotFoundError, match=r"put words\.tar\.gz into"):
        there = f"file://{tmp_path}/none/words.tar.gz"
        AudioProcessor(there, str(tmp_path / "new"), 0, 0, ["a"], 0, 0, settings())
    with pytest.raises(ValueError, match="Expected to find left in labels but only found high"):
        AudioProcessor("", str(folder), 0, 0, ["left"], 0, 0, settings())
    (folder / "_background_noise_" / "n.wav").unlink()
    with pytest.raises(FileNotFoundError, match="No background wav files"):
        processor(folder)


def test_a_frozen_network_labels_a_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tf.Graph()
    with graph.as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        data, softmax = speech_freeze.create_inference_graph(
            "low,high", RATE, LENGTH, 30, 20, 10, 5, "single_fc", "mfcc"
        )
        assert data.name == "wav_data:0" and softmax.name == "labels_softmax:0"
        kinds = [node.op for node in graph.as_graph_def().node]
        assert kinds.count("Mfcc") == kinds.count("AudioSpectrogram") == 1
        session.run(tf.global_variables_initializer())
        wav = folder / "high" / "s3_nohash_0.wav"
        (wanted,) = session.run(softmax, {data: wav.read_bytes()})
        frozen = tf.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), ["labels_softmax"]
        )
    (tmp_path / "net.pb").write_bytes(frozen.SerializeToString())
    labels = tmp_path / "labels.txt"
    labels.write_text("silence\nunknown\nlow\nhigh\n")
    words = (str(wav), str(labels), str(tmp_path / "net.pb"), "wav_data:0", "labels_softmax:0")
    with tf.Graph().as_default():
        speech_files.label_wav(*words, 2)
    best = np.argsort(wanted)[::-1][:2]
    names = ["silence", "unknown", "low", "high"]
    lines = [f"{names[i]} (score = {wanted[i]:.5f})" for i in best]
    assert capsys.readouterr().out.splitlines() == lines
    with pytest.raises(FileNotFoundError, match="Labels file does not exist none"):
        speech_files.label_wav(str(wav), "none", *words[2:], 2)


@pytest.mark.parametrize("quantize", [False, True])
def test_features_in_c(folder: Path, tmp_path: Path, quantize: bool) -> None:
    wav, written = folder / "low" / "s0_nohash_0.wav", tmp_path / "low.c"
    speech_files.wav_to_features(
        RATE, LENGTH, 20, 10, 5, quantize, "average", str(wav), str(written)
    )
    text, kind = written.read_text(), "unsigned char" if quantize else "float"
    assert f"const {kind} g_s0_nohash_0_data[] = {{" in text
    values = [float(line.strip(" ,")) for line in text.splitlines() if line.startswith("  ")]
    with tf.Session() as session:
        (wanted,) = processor(folder).get_features_for_wav(str(wav), settings(), session)
    scaled = np.rint(wanted.flatten() / 127.5 * 255).clip(0, 255) if quantize else wanted.flatten()
    np.testing.assert_allclose(values, scaled, rtol=1e-6)


def test_a_piece_is_mixed_in() -> None:
    track = np.zeros(10000)
    speech_files.mix_in_audio_sample(track, 2000, np.ones(10000), 0, 8000, 1.0, 1000, 2000)
    found = track[[0, 2000, 2500, 3000, 8000, 9000]]
    np.testing.assert_allclose(found, [0, 0, 0.5, 1, 1, 0.5], atol=1e-6)


def flags(folder: Path, written: Path) -> argparse.Namespace:
    """What a quick training is told."""
    return argparse.Namespace(
        **{
            **vars(speech_train.FLAGS), "data_url": "", "data_dir": str(folder),
            "train_dir": str(written), "summaries_dir": str(written), "sample_rate": RATE,
            "clip_duration_ms": LENGTH, "window_size_ms": 20.0, "feature_bin_count": 5,
            "how_many_training_steps": "60,20", "learning_rate": "0.05,0.01", "batch_size": 10,
            "wanted_words": "low,high", "model_architecture": "single_fc", "preprocess": "average",
            "time_shift_ms": 0.0, "silence_percentage": 20, "unknown_percentage": 50,
            "background_volume": 0.0, "testing_percentage": 30, "validation_percentage": 30,
        }
    )  # fmt: skip


@pytest.mark.long
def test_training(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    train, written = tree.module("examples.speech_commands.train"), tmp_path / "written"
    given = flags(folder, written)
    monkeypatch.setattr(train, "FLAGS", given)
    assert speech_train.FLAGS is given
    with caplog.at_level("INFO", "tensorflow"):
        train.main([])
    assert (written / "single_fc_labels.txt").read_text().split()[2:] == ["low", "high"]
    names = {path.name for path in written.iterdir()}
    assert {"single_fc.pbtxt", "single_fc.ckpt-80.meta"} <= names
    shares = re.findall(r"(\w+) accuracy = ([\d.]+)%", caplog.text)
    assert [part for part, _ in shares] == ["validation", "testing"]
    assert float(shares[0][1]) > 60, shares


def test_lengths_of_rates_and_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech_train.FLAGS, "learning_rate", "0.1")
    with pytest.raises(ValueError, match="must be equal length lists, but are 2 and 1 long"):
        speech_train.main()


def test_an_archive_is_unpacked_once(folder: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "words.tar.gz", "w:gz") as archive:
        for word in ("low", "high"):
            archive.add(folder / word, word)
    url, place = f"file://{tmp_path}/words.tar.gz", str(tmp_path / "new")
    first = AudioProcessor(url, place, 0, 0, ["low"], 30, 30, settings())
    assert len(list(Path(place).glob("*/*.wav"))) == 24
    again = AudioProcessor("file:///none", place, 0, 0, ["low"], 30, 30, settings())
    assert again.data_index == first.data_index and again.background_data == []
