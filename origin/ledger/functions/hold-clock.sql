-- hold_clock: the time by which holds end. It stands still while payment cannot be taken.
create or replace function hold_clock() returns timestamptz language sql stable as $$
  select coalesce((select began_at from hold_pauses), clock_timestamp())
$$;

-- resume_holds: the clock goes on, and each hold ends later by the time that it stood.
create or replace function resume_holds() returns void language plpgsql as $$
declare
  v_began timestamptz;
begin
  delete from hold_pauses returning began_at into v_began;
  if v_began is null then return; end if;
  update orders o set reserved_until = o.reserved_until + (clock_timestamp() - greatest(v_began, o.created_at))
  where o.order_id in (
    select h.order_id from orders h
    where h.status = 'reserved' and h.reserved_until > v_began
      or h.status = 'paying' and h.updated_at > '-infinity' and h.reserved_until > v_began
    -- The rows are locked in the order of advance_orders, which avoids deadlocks.
    order by h.order_id for no key update);
end $$;
