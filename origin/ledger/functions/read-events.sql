-- events_end: where the log ends for now. Below it no new event can appear: it is the oldest transaction in progress,
-- with what is added to the ids of transactions since the ledger has moved (event_offset).
create or replace function events_end()
returns xid8 language sql stable as $$
  select (pg_snapshot_xmin(pg_current_snapshot())::text::numeric + coalesce(max(o.xids), 0))::text::xid8
    from event_offset o;
$$;

-- event_xid: the place of an event that is written now: the id of the latest transaction that has ended, or of its own
-- if that is higher. Its own would not do: a transaction that waits for the lock of an order can have a lower id than
-- the one that it waits for, and a reader who stops between the two would see the later change alone. It is called
-- once the order is locked, and volatile, so that its snapshot has what was committed before.
create or replace function event_xid()
returns xid8 language sql volatile as $$
  select (greatest(pg_current_xact_id()::text::numeric, pg_snapshot_xmax(pg_current_snapshot())::text::numeric - 1)
      + coalesce(max(o.xids), 0))::text::xid8
    from event_offset o;
$$;

-- read_events: the events after a position, in order of commit, and none before which another may still appear.
create or replace function read_events(p_xid xid8, p_seq bigint, p_limit int)
returns setof events language sql stable as $$
  select * from events e
  where (e.xid, e.seq) > (p_xid, p_seq) and e.xid < (select events_end())
  order by e.xid, e.seq limit p_limit;
$$;
