-- The ledger's functions: what is decided about stock is decided here, under Postgres's locks.
-- Applied at every start (create or replace), after the migrations.

-- record_reservations: writes a batch of reservations of one sale in one transaction, and says what became of them.
--
-- The sale's row is locked first, so that batches of one sale follow each other: the visitor's limit, summed over live
-- orders, is then exact whatever the limit and whichever the product. The statement after it sees what the batch
-- before committed (read committed: a new snapshot per statement). The arrays are parallel and in order of arrival;
-- where not all fit, the earlier ones are taken.
--
-- recorded counts the orders that were, all of them held from created_at to reserved_until; others, where there are any, is
-- [{index, verdict, order}] for each of the rest: its place in the arrays (from 1), replay (the key has an order already),
-- limit (the visitor has a live order) or no_stock, and the order that stands instead (null with no_stock).
-- With p_note_refusals, who is refused gets an order all the same, cancelled: somebody was told to ask for it.
do $$ begin
  -- It once returned a row for each reservation.
  if exists (select from pg_proc where oid = to_regproc('record_reservations') and proretset) then
    drop function record_reservations;
  end if;
end $$;
create or replace function record_reservations(
  p_sale text, p_ids uuid[], p_products text[], p_visitors text[], p_numbers bigint[], p_quantities int[],
  p_keys text[], p_hashes text[], p_methods text[], p_note_refusals boolean,
  out recorded int, out others jsonb, out created_at timestamptz, out reserved_until timestamptz
)
-- Planned once per connection: planning takes as long as recording thirty orders.
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_limit int;
  v_hold interval;
  v_simple boolean;
begin
  select s.limit_per_visitor, s.hold_seconds * interval '1 second' into strict v_limit, v_hold
    from sales s where s.sale_id = p_sale for no key update;
  -- Everyone takes product rows before order rows, and in the same order: no deadlocks.
  perform 1 from products p where p.sale_id = p_sale and p.product_id = any(p_products)
    order by p.product_id for no key update;
  created_at := date_trunc('milliseconds', clock_timestamp());
  reserved_until := created_at + v_hold;

  -- Most batches: all of it fits, and each visitor in it comes once, wants no more than they may, and has no order here.
  select bool_and(coalesce(p.held + p.sold + w.units <= p.total, false) and w.most <= v_limit) into v_simple
    from (select a.product, sum(a.quantity) as units, max(a.quantity) as most
          from unnest(p_products, p_quantities) as a(product, quantity) group by a.product) w
    left join products p on p.sale_id = p_sale and p.product_id = w.product;
  if v_simple and (select count(distinct v) from unnest(p_visitors) v) = cardinality(p_visitors)
      and not exists (select from orders o where o.sale_id = p_sale and o.visitor = any(p_visitors)) then
    insert into orders (order_id, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor, currency,
                        status, idempotency_key, request_hash, payment_method, created_at, reserved_until)
    select a.id, p_sale, a.product, a.visitor, a.number, a.quantity, p.unit_price_minor, p.currency,
           'reserved', a.key, a.hash, a.method, record_reservations.created_at, record_reservations.reserved_until
    from unnest(p_ids, p_products, p_visitors, p_numbers, p_quantities, p_keys, p_hashes, p_methods)
      as a(id, product, visitor, number, quantity, key, hash, method)
    join products p on p.sale_id = p_sale and p.product_id = a.product;
    get diagnostics recorded = row_count;
    update products p set held = p.held + w.units
    from (select a.product, sum(a.quantity)::int as units
          from unnest(p_products, p_quantities) as a(product, quantity) group by a.product) w
    where p.sale_id = p_sale and p.product_id = w.product;
    return;
  end if;

  -- The others: who may have what is found out one by one.
  with asked as (
    select * from unnest(p_ids, p_products, p_visitors, p_numbers, p_quantities, p_keys, p_hashes, p_methods)
      with ordinality as a(id, product, visitor, number, quantity, key, hash, method, i)
  ),
  keyed as (
    -- Looked up one by one: joined, a plan made while the table was small reads all orders of the sale for each batch.
    select a.*, first_value(a.id) over (partition by a.visitor, a.key order by a.i) as first_id,
      (select o.order_id from orders o
       where o.sale_id = p_sale and o.visitor = a.visitor and o.idempotency_key = a.key) as known
    from asked a
  ),
  fresh as (
    select k.*, live.order_id as live_id,
      coalesce(live.units, 0) + sum(k.quantity) over (partition by k.visitor order by k.i) <= v_limit as within_limit,
      first_value(k.id) over (partition by k.visitor order by k.i) as earlier_id
    from keyed k
    left join lateral (
      select sum(o.quantity) as units, (array_agg(o.order_id order by o.created_at desc, o.order_id desc))[1] as order_id
      from orders o
      where o.sale_id = p_sale and o.visitor = k.visitor and o.status in ('reserved', 'paying', 'confirmed', 'fulfilled')
    ) live on true
    where k.known is null and k.first_id = k.id
  ),
  stocked as (
    select f.*, p.unit_price_minor, p.currency,
      sum(f.quantity) over (partition by f.product order by f.i) <= p.total - p.held - p.sold as fits
    from fresh f join products p on p.sale_id = p_sale and p.product_id = f.product
    where f.within_limit
  ),
  written as (
    insert into orders (order_id, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor, currency,
                        status, idempotency_key, request_hash, payment_method, created_at, reserved_until)
    select s.id, p_sale, s.product, s.visitor, s.number, s.quantity, s.unit_price_minor, s.currency,
           'reserved', s.key, s.hash, s.method, record_reservations.created_at, record_reservations.reserved_until
    from stocked s where s.fits
    on conflict do nothing
    returning orders.order_id, orders.product_id, orders.quantity
  ),
  counted as (
    update products p set held = p.held + w.units
    from (select product_id, sum(quantity)::int as units from written group by product_id) w
    where p.sale_id = p_sale and p.product_id = w.product_id
    returning p.product_id
  ),
  refused as (
    insert into orders (order_id, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor, currency,
                        status, idempotency_key, request_hash, payment_method, created_at, reserved_until, reason)
    select f.id, p_sale, f.product, f.visitor, f.number, f.quantity, p.unit_price_minor, p.currency,
           'cancelled', f.key, f.hash, f.method, record_reservations.created_at, record_reservations.created_at,
           case when f.within_limit then 'no_stock' else 'limit' end
    from fresh f
    join products p on p.sale_id = p_sale and p.product_id = f.product
    left join stocked s on s.id = f.id
    where p_note_refusals and s.fits is not true
    on conflict do nothing
  ),
  told as (
    select k.i as index, w.order_id is not null as recorded,
      case when k.known is not null or k.first_id <> k.id then 'replay'
           when not f.within_limit then 'limit'
           else 'no_stock' end as verdict,
      case when k.known is not null then k.known
           when k.first_id <> k.id then k.first_id
           when not f.within_limit then coalesce(f.live_id, f.earlier_id) end as order
    from keyed k
    left join fresh f on f.id = k.id
    left join written w on w.order_id = k.id
  )
  select count(*) filter (where t.recorded),
    jsonb_agg(jsonb_build_object('index', t.index, 'verdict', t.verdict, 'order', t.order) order by t.index)
      filter (where not t.recorded)
  into recorded, others from told t;
end $$;

-- move_orders: one transition, for all of the orders that are in one of the statuses it may start from; the guard makes
-- it happen once. Takes the inventory along and leaves an event. Returns the orders that moved, as they are now.
-- p_methods and p_charges are null, or parallel to p_ids.
--
-- reserved, paying count as held; confirmed, fulfilled as sold; expired, cancelled as neither.
drop function if exists move_orders(uuid[], text[], text, text, text, text);
create or replace function move_orders(
  p_ids uuid[], p_from text[], p_to text, p_methods text[], p_charges text[], p_reason text
) returns setof orders
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_held boolean := p_to in ('reserved', 'paying');
  v_sold boolean := p_to in ('confirmed', 'fulfilled');
begin
  -- The hot row is left alone by transitions that keep a unit where it is.
  if exists (select 1 from unnest(p_from) f
             where v_held <> (f in ('reserved', 'paying')) or v_sold <> (f in ('confirmed', 'fulfilled'))) then
    perform 1 from products p
      where (p.sale_id, p.product_id) in (select o.sale_id, o.product_id from orders o where o.order_id = any(p_ids))
      order by p.sale_id, p.product_id for no key update;
  end if;

  return query
  with asked as (
    select distinct on (a.id) a.id, a.method, a.charge
    from unnest(p_ids, p_methods, p_charges) with ordinality as a(id, method, charge, i)
    order by a.id, a.i
  ),
  before as (
    select o.order_id, o.sale_id, o.product_id, o.quantity, o.status in ('reserved', 'paying') as was_held,
           o.status in ('confirmed', 'fulfilled') as was_sold
    from orders o where o.order_id = any(p_ids) and o.status = any(p_from)
    order by o.order_id for no key update
  ),
  moved as (
    update orders o set status = p_to, updated_at = clock_timestamp(),
      payment_method = coalesce(a.method, o.payment_method),
      charge_id = coalesce(a.charge, o.charge_id),
      reason = coalesce(p_reason, o.reason)
    from before b join asked a on a.id = b.order_id
    where o.order_id = b.order_id
    returning o.*
  ),
  counted as (
    -- The bounds only ever hold where orders and counters had come apart, which the reconciler finds and puts right;
    -- until then a sale must go on, and must not count more units than there are.
    update products p set
      held = least(greatest(0, p.held + d.held), p.total),
      sold = least(greatest(0, p.sold + d.sold), p.total - least(greatest(0, p.held + d.held), p.total))
    from (
      select b.sale_id, b.product_id,
        sum(b.quantity * (v_held::int - b.was_held::int))::int as held,
        sum(b.quantity * (v_sold::int - b.was_sold::int))::int as sold
      from before b group by b.sale_id, b.product_id
    ) d
    where p.sale_id = d.sale_id and p.product_id = d.product_id and (d.held <> 0 or d.sold <> 0)
  ),
  noted as (
    insert into order_events (order_id, status) select m.order_id, p_to from moved m
  ),
  told as (
    select pg_notify('order_changed', m.order_id::text) from moved m
  )
  select m.* from moved m where (select count(*) from told) >= 0;
end $$;
