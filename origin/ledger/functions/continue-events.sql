-- continue_events: makes the log of events go on after the ledger has moved to another server, by a logical restore
-- or a switch to another cluster. The ids of transactions begin anew there, so that new events would sort before
-- those that readers have seen, and no reader would ever see one. From now on so much is added to the ids
-- (event_offset) that they are above all before; events written since the move are put where they belong. Returns
-- true if the ledger had moved; if not, it costs a few index look-ups.
create or replace function continue_events()
returns boolean language plpgsql as $$
declare
  v_offset numeric;
  -- The end of the log as this server counts, and the furthest place that an event or a reader has.
  v_end numeric;
  v_known numeric;
begin
  for pass in 1..2 loop
    select o.xids, o.xids + pg_snapshot_xmax(pg_current_snapshot())::text::numeric into v_offset, v_end
      from event_offset o;
    select greatest((select xid::text::numeric from events order by xid desc limit 1),
      (select max(xid::text::numeric) from readers)) into v_known;
    if v_known is null or v_known < v_end then return false; end if;
    exit when pass = 2;
    -- Waits for those who write events, and for another caller, who may have done all this: so it looks again.
    set local lock_timeout = '5s';
    lock table events in access exclusive mode;
  end loop;
  -- What came along has ids that this server has not reached; what was written here has come after the last of it.
  update events set xid = (xid::text::numeric - v_offset + v_known)::text::xid8
  where xid < v_end::text::xid8 and seq > (
    select max(seq) from (select seq, xid from events union all select seq, xid from readers) come
    where come.xid >= v_end::text::xid8);
  update event_offset set xids = v_known;
  return true;
end $$;
