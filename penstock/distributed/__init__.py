"""Masters, workers and servers: sessions whose steps run on several tasks."""
