-- read_events: the events after a position, in order of commit, and none before which another may still appear.
create or replace function read_events(p_xid xid8, p_seq bigint, p_limit int)
returns setof events language sql stable as $$
  select * from events e
  where (e.xid, e.seq) > (p_xid, p_seq) and e.xid < pg_snapshot_xmin(pg_current_snapshot())
  order by e.xid, e.seq limit p_limit;
$$;
