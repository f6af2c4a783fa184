-- The lists of statuses are those of shared/api/order-status.ts (HELD, SOLD, LIVE). They are spelled out, because a
-- function call instead, even of an immutable one, made a batch a tenth slower.

-- record_reservations: records a batch of reservations of one sale in one transaction.
--
-- It locks the sale's row first: batches of one sale run one after the other, each later statement sees what the
-- batch before has committed (read committed), and the visitor's limit, summed over live orders of all products, is
-- exact. The arrays are parallel and in order of arrival. Each reservation gets the verdict that it would get alone,
-- after those before it.
--
-- recorded: the number of orders inserted, all held from created_at to reserved_until. others: null, or [{index,
-- verdict, written, order, units, unpaid}] for those not recorded. index is the place in the arrays, from 1;
--   written: a cancelled order was inserted for it. Verdicts:
--   replay: the key has an order already, which is `order`.
--   limit: the visitor's limit is used up. `order` is their latest live order, if any; `units` those of all live ones.
--   too_many: too many orders of the visitor failed (expired, given back or declined), even if nobody else waits.
--   no_stock: too few units are left. `unpaid`: how many orders of the visitor failed.
--   unpaid: others with fewer failed orders want what is left, and come first. `unpaid` as above.
--   price_changed: its product has another price than the buyer was shown.
-- prices: name, unit price and currency of each product as written. They may have changed since the caller read them.
-- numbers: parallel to the arrays; what is not recorded may have one too, which nobody sees. p_note_refusals: also
-- insert a cancelled order for each refused reservation and for each replay under another order's key.
--   A buyer was sent to ask for it, or its intent may be read again later; the reservation then gets the same verdict
--     again.
--   Its stored key is "key order", which no client can send, so the key stays free for another call. `unpaid` is
--     noted as,
--   and from then on is, too_many.
-- p_demand: how many units the waiting visitors with fewer than one, two, .. failed orders may buy; the last of these
-- numbers also
--   concerns visitors with more failed orders.
-- p_prices: the unit prices that the buyers were shown; null for those who take any, or where all do.
create or replace function record_reservations(
  p_sale text, p_ids uuid[], p_products text[], p_visitors text[], p_lines text[], p_numbers bigint[],
  p_sources text[], p_quantities int[], p_keys text[], p_hashes text[], p_methods text[], p_note_refusals boolean,
  p_demand int[], p_prices bigint[],
  out recorded int, out others jsonb, out created_at timestamptz, out reserved_until timestamptz, out prices jsonb,
  out numbers bigint[]
)
-- Planned once per connection: planning takes as long as recording thirty orders.
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  -- Limit of a visitor's orders in a sale beyond one per allowed unit. All are read under the sale's lock when the
  -- visitor comes again: this is more than a real buyer gives back, and takes less than a millisecond.
  c_max_failed constant int := 100;
  v_limit int;
  v_max_unpaid int;
  v_hold interval;
  v_simple boolean;
  v_sum int;
  v_price bigint;
  v_currency text;
  v_oversold text[];
  v_one record;
  -- Decisions, by place in the batch.
  v_verdicts text[];
  v_orders uuid[];
  v_had int[];
  v_written boolean[];
  -- A visitor's units and latest live order, and the units left of a product, at the first place of each in the batch.
  v_units int[];
  v_live uuid[];
  v_left int[];
begin
  -- The numbers are made before the locks, which others wait for.
  numbers := next_order_numbers(cardinality(p_ids));
  select s.limit_per_visitor, s.max_unpaid_orders, s.hold_seconds * interval '1 second'
    into strict v_limit, v_max_unpaid, v_hold
    from sales s where s.sale_id = p_sale for no key update;
  -- All functions lock product rows before order rows, in the same order, to avoid deadlocks.
  perform 1 from products p where p.sale_id = p_sale and p.product_id = any(p_products)
    order by p.product_id for no key update;
  created_at := date_trunc('milliseconds', clock_timestamp());
  reserved_until := created_at + v_hold;

  -- The fast path of most batches: everything fits, and each visitor comes once, within the limit and without an order.
  -- Checked after the locks: an order that ends must not free a unit for a product found oversold before.
  v_simple := v_limit >= all (p_quantities)
    and (cardinality(p_visitors) = 1 or (select count(distinct v) from unnest(p_visitors) v) = cardinality(p_visitors))
    and not exists (select from findings f where f.sale_id = p_sale and f.kind = 'oversold' and f.closed_at is null)
    and not exists (select from orders o where o.sale_id = p_sale and o.visitor = any(p_visitors));
  -- Batches of one product have statements with fewer plan nodes: to start them takes as long as recording several
  -- orders.
  if v_simple and p_products[1] = all (p_products) then
    if cardinality(p_quantities) = 1 then
      v_sum := p_quantities[1];
    else
      select sum(q) into v_sum from unnest(p_quantities) q;
    end if;
    update products p set held = p.held + v_sum
    where p.sale_id = p_sale and p.product_id = p_products[1] and p.held + p.sold + v_sum <= p.total - p.buffer
      and coalesce(p.unit_price_minor = all (p_prices), true)
    returning jsonb_build_object(p.product_id, jsonb_build_object(
        'name', p.name, 'unit_price_minor', p.unit_price_minor, 'currency', p.currency)),
      p.unit_price_minor, p.currency
    into prices, v_price, v_currency;
    if found then
      insert into orders (order_id, number, sale_id, product_id, visitor, line, ticket_number, source, quantity,
        unit_price_minor, currency,
                          status, idempotency_key, request_hash, payment_method, created_at, reserved_until)
      -- In the select list: in a from clause each array is copied first.
      select unnest(p_ids), unnest(numbers), p_sale, p_products[1], unnest(p_visitors), unnest(p_lines),
        unnest(p_numbers), unnest(p_sources),
             unnest(p_quantities), v_price, v_currency, 'reserved', unnest(p_keys), unnest(p_hashes), unnest(p_methods),
             record_reservations.created_at, record_reservations.reserved_until;
      get diagnostics recorded = row_count;
      insert into events (xid, type, order_ids, status) values (event_xid(), 'order.reserved', p_ids, 'reserved');
      return;
    end if;
    v_simple := false;
  end if;

  v_simple := v_simple and (p_prices is null or not exists (
    select from unnest(p_products, p_prices) as a(product, price)
    join products p on p.sale_id = p_sale and p.product_id = a.product where a.price <> p.unit_price_minor));
  select v_simple and bool_and(coalesce(p.held + p.sold + w.units <= p.total - p.buffer, false)),
      jsonb_object_agg(w.product, jsonb_build_object(
        'name', p.name, 'unit_price_minor', p.unit_price_minor, 'currency', p.currency)),
      array_agg(w.product) filter (where exists (
        select from findings f where f.sale_id = p_sale and f.product_id = w.product and f.kind = 'oversold'
          and f.closed_at is null))
    into v_simple, prices, v_oversold
    from (select a.product, sum(a.quantity) as units
          from unnest(p_products, p_quantities) as a(product, quantity) group by a.product) w
    left join products p on p.sale_id = p_sale and p.product_id = w.product;
  if v_simple then
    insert into orders (order_id, number, sale_id, product_id, visitor, line, ticket_number, source, quantity,
      unit_price_minor, currency,
                        status, idempotency_key, request_hash, payment_method, created_at, reserved_until)
    select a.id, a.of_order, p_sale, a.product, a.visitor, a.line, a.number, a.source, a.quantity,
           p.unit_price_minor, p.currency,
           'reserved', a.key, a.hash, a.method, record_reservations.created_at, record_reservations.reserved_until
    from unnest(p_ids, numbers, p_products, p_visitors, p_lines, p_numbers, p_sources, p_quantities, p_keys, p_hashes,
      p_methods)
      as a(id, of_order, product, visitor, line, number, source, quantity, key, hash, method)
    join products p on p.sale_id = p_sale and p.product_id = a.product;
    get diagnostics recorded = row_count;
    insert into events (xid, type, order_ids, status) values (event_xid(), 'order.reserved', p_ids, 'reserved');
    update products p set held = p.held + w.units
    from (select a.product, sum(a.quantity)::int as units
          from unnest(p_products, p_quantities) as a(product, quantity) group by a.product) w
    where p.sale_id = p_sale and p.product_id = w.product;
    return;
  end if;

  -- An oversold product's row cannot show more than "full". If it shows less, because an order has ended or the total
  -- has grown, count the orders.
  if v_oversold is not null then
    update products p set
      sold = least(o.sold, p.total - p.buffer), held = least(o.held,
        p.total - p.buffer - least(o.sold, p.total - p.buffer))
    from (select product_id, coalesce(sum(quantity) filter (where status in ('reserved', 'paying')), 0)::int as held,
            coalesce(sum(quantity) filter (where status in ('confirmed', 'fulfilled', 'refunded')), 0)::int as sold
          from orders where sale_id = p_sale and product_id = any(v_oversold) group by product_id) o
    where p.sale_id = p_sale and p.product_id = o.product_id and p.held + p.sold < p.total - p.buffer;
  end if;

  -- The slow path decides one by one, as the fast gate does.
  v_verdicts := array_fill(null::text, array[cardinality(p_ids)]);
  v_orders := array_fill(null::uuid, array[cardinality(p_ids)]);
  v_had := array_fill(null::int, array[cardinality(p_ids)]);
  v_written := array_fill(false, array[cardinality(p_ids)]);
  v_units := v_had;
  v_live := v_orders;
  v_left := v_units;
  for v_one in
    select a.i, a.id, a.quantity, has.*, a.price <> p.unit_price_minor as has_other_price,
      p.total - p.buffer - p.held - p.sold as units_left,
      min(a.i) over (partition by a.visitor, a.key) as first,
      min(a.i) over (partition by a.visitor) as visitor,
      min(a.i) over (partition by a.product) as product
    from unnest(p_ids, p_products, p_visitors, p_quantities, p_keys, p_prices)
      with ordinality as a(id, product, visitor, quantity, key, price, i)
    left join products p on p.sale_id = p_sale and p.product_id = a.product
    -- Lateral: with a join, a plan made while the table was small reads all orders of the sale for each batch.
    cross join lateral (
      select count(*) as orders,
        (array_agg(o.order_id) filter (where o.idempotency_key = a.key))[1] as known,
        (array_agg(o.reason) filter (where o.idempotency_key = a.key || ' ' || a.id))[1] as noted,
        coalesce(sum(o.quantity) filter (where o.status in ('reserved', 'paying', 'confirmed', 'fulfilled',
          'refunded')), 0) as units,
        (array_agg(o.order_id order by o.created_at desc, o.order_id desc)
          filter (where o.status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'refunded')))[1] as live,
        -- The visitor's failed orders: see endOf in orders.ts.
        (count(*) filter (where o.status = 'expired' or o.reason in ('given_back', 'not_authenticated'))
          + greatest(0, count(*) filter (where o.reason like 'declined%') - 1))::int as unpaid
      from orders o where o.sale_id = p_sale and o.visitor = a.visitor
    ) has
    order by a.i
  loop
    -- A refusal is written once, and not if it belongs to the key's own order.
    v_written[v_one.i] := p_note_refusals and v_one.noted is null and v_one.known is distinct from v_one.id;
    if v_one.known is not null then
      v_verdicts[v_one.i] := 'replay';
      v_orders[v_one.i] := v_one.known;
    elsif v_one.noted is null and v_one.first < v_one.i then
      -- The key came earlier in this batch: repeat its verdict.
      v_verdicts[v_one.i] := v_verdicts[v_one.first];
      v_orders[v_one.i] := v_orders[v_one.first];
      v_had[v_one.i] := v_had[v_one.first];
      if v_verdicts[v_one.i] = 'recorded' then
        v_verdicts[v_one.i] := 'replay';
        v_orders[v_one.i] := p_ids[v_one.first];
      end if;
      v_written[v_one.i] := v_written[v_one.i] and v_one.id <> p_ids[v_one.first];
    elsif v_one.noted = 'limit'
        or v_one.noted is null and coalesce(v_units[v_one.visitor], v_one.units) + v_one.quantity > v_limit then
      v_verdicts[v_one.i] := 'limit';
      v_orders[v_one.i] := coalesce(v_live[v_one.visitor], v_one.live);
      v_had[v_one.i] := coalesce(v_units[v_one.visitor], v_one.units);
    elsif v_one.noted = 'too_many'
        or v_one.noted is null and v_one.orders >= v_limit + greatest(c_max_failed, v_max_unpaid) then
      v_verdicts[v_one.i] := 'too_many';
    elsif v_one.noted = 'price_changed' or v_one.noted is null and v_one.has_other_price then
      v_verdicts[v_one.i] := 'price_changed';
    elsif v_one.noted is not null or coalesce(v_left[v_one.product], v_one.units_left, 0) < v_one.quantity then
      v_verdicts[v_one.i] := 'no_stock';
      v_had[v_one.i] := v_one.unpaid;
    elsif v_one.unpaid > 0 and coalesce(v_left[v_one.product], v_one.units_left) - v_one.quantity
        < p_demand[least(v_one.unpaid, cardinality(p_demand))] then
      v_verdicts[v_one.i] := 'unpaid';
      v_had[v_one.i] := v_one.unpaid;
    else
      v_verdicts[v_one.i] := 'recorded';
      v_written[v_one.i] := true;
      v_units[v_one.visitor] := coalesce(v_units[v_one.visitor], v_one.units) + v_one.quantity;
      v_live[v_one.visitor] := v_one.id;
      v_left[v_one.product] := coalesce(v_left[v_one.product], v_one.units_left) - v_one.quantity;
    end if;
  end loop;

  insert into orders (order_id, number, sale_id, product_id, visitor, line, ticket_number, source, quantity,
    unit_price_minor, currency,
                      status, idempotency_key, request_hash, payment_method, created_at, reserved_until, reason)
  -- A product that was removed meanwhile has no price: the refusal is noted all the same.
  select a.id, a.of_order, p_sale, a.product, a.visitor, a.line, a.number, a.source, a.quantity,
         coalesce(p.unit_price_minor, 0),
         coalesce(p.currency, (select min(other.currency) from products other where other.sale_id = p_sale), ''),
         case when a.verdict = 'recorded' then 'reserved' else 'cancelled' end,
         case when a.verdict = 'recorded' then a.key else a.key || ' ' || a.id end, a.hash, a.method,
         record_reservations.created_at,
         case when a.verdict = 'recorded' then record_reservations.reserved_until
           else record_reservations.created_at end,
         case a.verdict when 'unpaid' then 'too_many' else nullif(a.verdict, 'recorded') end
  from unnest(p_ids, numbers, p_products, p_visitors, p_lines, p_numbers, p_sources, p_quantities, p_keys, p_hashes,
    p_methods, v_verdicts,
              v_written)
    as a(id, of_order, product, visitor, line, number, source, quantity, key, hash, method, verdict, written)
  left join products p on p.sale_id = p_sale and p.product_id = a.product
  where a.written;
  insert into events (xid, type, order_ids, status)
  select event_xid(), 'order.' || a.status, array_agg(a.id order by a.i), a.status
  from (select w.id, w.i, case when w.verdict = 'recorded' then 'reserved' else 'cancelled' end as status
        from unnest(p_ids, v_verdicts, v_written) with ordinality as w(id, verdict, written, i) where w.written) a
  group by a.status;
  update products p set held = p.held + w.units
  from (select a.product, sum(a.quantity)::int as units
        from unnest(p_products, p_quantities, v_verdicts) as a(product, quantity, verdict)
        where a.verdict = 'recorded' group by a.product) w
  where p.sale_id = p_sale and p.product_id = w.product;

  select count(*) filter (where t.verdict = 'recorded'),
    jsonb_agg(jsonb_build_object('index', t.i, 'verdict', t.verdict, 'written', t.written, 'order', t.order,
        case t.verdict when 'limit' then 'units' else 'unpaid' end, t.had) order by t.i)
      filter (where t.verdict <> 'recorded')
  into recorded, others
  from unnest(v_verdicts, v_orders, v_had, v_written) with ordinality as t(verdict, "order", had, written, i);
end $$;
