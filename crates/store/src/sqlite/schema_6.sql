-- Events that say how long a run did not work. They are few, so that a list of runs can ask for them.
CREATE INDEX event_pause ON event (run) WHERE kind IN ('asked', 'recovered', 'resumed');
