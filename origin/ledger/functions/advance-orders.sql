-- The lists of statuses are those of shared/api/order-status.ts (HELD, SOLD, LIVE). They are spelled out, because a
-- function call instead, even of an immutable one, made a batch a tenth slower.

-- advance_orders: makes one of the transitions of ledger/transitions.ts: moves all orders that are in one of the
-- statuses p_from to p_to, updates the inventory, and writes an event for each. The guard on the status makes a
-- transition happen once. Returns the moved orders in their new state.
--
-- p_to: null leaves the status as it is. p_type: the events' type; null: that of the status.
-- The other arrays are null, or parallel to p_ids; a null in them changes nothing.
--   p_methods: a payment begins with this method, which counts as an attempt, and not after the hold has ended.
--   p_attempts: only if the order's latest attempt is this one.
--   p_actions: what the charge needs of its buyer, for p_action_seconds from now: not longer than so many after the
--     hold, whose attempts all have this one deadline, and not longer than the sale, or else the hold. A visitor who
--     has let an order of the sale fail, or has another one waiting after its hold, waits for no longer than the
--     hold. Any other transition ends the wait. A later report of the same wait changes nothing, least of all its
--     end.
--   p_codes: why the attempt was declined. p_refunded: what was given back so far.
--
-- A confirmed order keeps what its receipt says of product, tax and seller as they are at this moment.
--
-- reserved and paying count as held; confirmed, fulfilled and refunded as sold; expired, cancelled and returned as
-- neither.
create or replace function advance_orders(
  p_ids uuid[], p_from text[], p_to text, p_type text, p_reason text, p_methods text[], p_charges text[],
  p_attempts int[], p_codes text[], p_actions jsonb[], p_action_seconds int, p_refunded bigint[]
) returns setof orders
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_held boolean := p_to in ('reserved', 'paying');
  v_sold boolean := p_to in ('confirmed', 'fulfilled', 'refunded');
begin
  -- Lock the hot row only if the transition changes its counters.
  if p_to is not null and exists (select 1 from unnest(p_from) f
             where v_held <> (f in ('reserved', 'paying')) or v_sold <> (f in ('confirmed', 'fulfilled',
               'refunded'))) then
    perform 1 from products p
      where (p.sale_id, p.product_id) in (
        select o.sale_id, o.product_id from orders o where o.order_id = any(p_ids)
        union all
        select o.sale_id, l ->> 'product' from orders o, jsonb_array_elements(o.cart) l
        where o.order_id = any(p_ids) and o.cart is not null)
      order by p.sale_id, p.product_id for no key update;
  end if;

  return query
  with input as (
    select distinct on (a.id) a.*
    from unnest(p_ids, p_methods, p_charges, p_attempts, p_codes, p_actions, p_refunded)
      with ordinality as a(id, method, charge, attempt, code, action, refunded, i)
    -- A page of the provider's changes has several attempts of an order: the latest counts.
    order by a.id, a.attempt desc nulls last, a.i
  ),
  before as (
    select o.order_id, o.sale_id, o.visitor, o.product_id, o.quantity, o.cart,
      o.status in ('reserved', 'paying') as was_held,
           o.status in ('confirmed', 'fulfilled', 'refunded') as was_sold
    from orders o join input a on a.id = o.order_id
    where o.order_id = any(p_ids) and o.status = any(p_from)
      and (a.attempt is null or a.attempt = o.attempts)
      and (a.action is null or o.action is null)
      and (a.method is null or o.reserved_until > (select hold_clock()))
      -- One whose wait for its buyer is being ended is confirmed no more: its charge is about to be cancelled.
      and (p_to is distinct from 'confirmed' or o.action is null or not o.action ? 'ending')
      and (a.refunded is null or a.refunded <> o.refunded_minor or p_to is not null)
    order by o.order_id for no key update of o
  ),
  -- The orders that may wait for stock after their hold ends, at most one for each visitor.
  granted as (
    select distinct on (b.sale_id, b.visitor) b.order_id from before b join input a on a.id = b.order_id
    where a.action is not null and not exists (
      select from orders o
      where o.sale_id = b.sale_id and o.visitor = b.visitor and o.order_id <> b.order_id
        and (o.status = 'expired' or o.reason in ('given_back', 'not_authenticated') or o.reason like 'declined%'
          or o.action_until > o.reserved_until))
    order by b.sale_id, b.visitor, b.order_id
  ),
  moved as (
    update orders o set status = coalesce(p_to, o.status), updated_at = clock_timestamp(),
      -- A reserved order with a method has its payment begun by a worker: a declined one waits for its buyer.
      payment_method = case when p_to = 'reserved' then null else coalesce(a.method, o.payment_method) end,
      attempts = o.attempts + (a.method is not null)::int,
      decline_code = case when p_to = 'paying' then null else coalesce(a.code, o.decline_code) end,
      action = a.action,
      action_until = case when a.action is not null then greatest(o.reserved_until, (
        select least(least(clock_timestamp(), o.reserved_until) + p_action_seconds * interval '1 second',
          (select coalesce(s.ended_at, s.ends_at) from sales s where s.sale_id = o.sale_id))
        from granted g where g.order_id = o.order_id)) end,
      receipt = case when p_to = 'confirmed' then (
        select jsonb_build_object('name', p.name, 'tax', s.tax, 'seller', s.seller) from sales s
          join products p using (sale_id)
        where s.sale_id = o.sale_id and p.product_id = o.product_id) else o.receipt end,
      fulfilled_at = case when p_to = 'fulfilled' then clock_timestamp() else o.fulfilled_at end,
      charge_id = coalesce(a.charge, o.charge_id),
      refunded_minor = coalesce(a.refunded, o.refunded_minor),
      reason = coalesce(p_reason, o.reason)
    from before b join input a on a.id = b.order_id
    where o.order_id = b.order_id
    returning o.*
  ),
  counted as (
    -- The bounds matter only where counters and orders differ, which the reconciler repairs. Until then the sale must
    -- continue, and must not count more units than exist.
    update products p set
      held = least(greatest(0, p.held + d.held), p.total - p.buffer),
      sold = least(greatest(0, p.sold + d.sold),
                   p.total - p.buffer - least(greatest(0, p.held + d.held), p.total - p.buffer))
    from (
      select b.sale_id, b.product_id,
        sum(b.quantity * (v_held::int - b.was_held::int))::int as held,
        sum(b.quantity * (v_sold::int - b.was_sold::int))::int as sold
      from (
        select sale_id, product_id, quantity, was_held, was_sold from before where cart is null
        union all
        select b.sale_id, l ->> 'product', (l ->> 'quantity')::int, b.was_held, b.was_sold
        from before b, jsonb_array_elements(b.cart) l where b.cart is not null and not l ? 'returned'
      ) b
      where p_to is not null group by b.sale_id, b.product_id
    ) d
    where p.sale_id = d.sale_id and p.product_id = d.product_id and (d.held <> 0 or d.sold <> 0)
  ),
  -- The seats of an order that is live no longer are free.
  freed as (
    delete from seat_claims c using before b
    where p_to is not null and not v_held and not v_sold and b.cart is not null and c.order_id = b.order_id
  ),
  noted as (
    insert into events (xid, type, order_id, status, data)
    -- One for all, made once every order is locked.
    select (select event_xid() from (select count(*) from before) locked),
      coalesce(p_type, 'order.' || replace(m.status, 'returned', 'refunded')), m.order_id, m.status,
      jsonb_strip_nulls(jsonb_build_object('reason', m.reason, 'attempts', nullif(m.attempts, 0),
        'decline_code', m.decline_code, 'action', m.action - 'client_secret', 'refunded_minor',
          nullif(m.refunded_minor, 0)))
    from moved m
  )
  select m.* from moved m;
end $$;
