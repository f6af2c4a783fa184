-- record_carts: records a batch of reservations of one sale, of which some have several lines, seats or a limit of
-- their product. What record_reservations does for one line of units, with the same arguments, locks and verdicts;
-- batches without carts are left to it, since they cost a fraction.
--
-- The lines of all orders follow, in parallel arrays: the place of the order in the other arrays, the product or
-- section, the quantity, the seat (null: none), the unit price that the order was computed with (null: any), and its
-- share of the bill where that is not its price; and for each order 1 if it is stored with its lines, else 0, 1 if the
-- box office sells it, which has no limits, else 0, what it costs beside its lines, and the terms
-- (sales.terms_version) that this follows from. A cart is taken as a whole or not at all. A promo code is a line
-- '%CODE' of one use, which is no unit of the order.
--
-- Two verdicts more, and price_changed also where the terms are others by now:
--   seat_taken: `seats` are the indexes of seats that another order has, or that are blocked, or removed from the hall.
--   no_stock: also `product`, of which too few units are left.
-- carts: the stored lines of recorded orders, by order: names and prices as they are at this moment.
create or replace function record_carts(
  p_sale text, p_ids uuid[], p_visitors text[], p_lines text[], p_numbers bigint[], p_sources text[],
  p_quantities int[], p_keys text[],
  p_hashes text[], p_methods text[], p_note_refusals boolean, p_demand int[],
  p_line_orders int[], p_line_products text[], p_line_quantities int[], p_line_seats int[], p_line_prices bigint[],
  p_line_shares bigint[], p_stored int[], p_box_office int[], p_bills jsonb[], p_terms int[],
  out recorded int, out others jsonb, out created_at timestamptz, out reserved_until timestamptz, out prices jsonb,
  out numbers bigint[], out carts jsonb
)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  -- The limit equals the one of record_reservations.
  c_max_failed constant int := 100;
  v_limit int;
  v_max_unpaid int;
  v_hold interval;
  v_terms int;
  v_simple boolean;
  v_carts jsonb[];
  v_first text[];
  v_price bigint[];
  v_currency text[];
  v_known boolean[];
  v_changed boolean[];
  v_one record;
  v_verdict text;
  v_order uuid;
  v_had int;
  v_taken int[];
  v_product text;
  v_written boolean;
  v_has_limits boolean;
begin
  -- The numbers are made before the locks, which others wait for.
  numbers := next_order_numbers(cardinality(p_ids));
  select s.limit_per_visitor, s.max_unpaid_orders, s.hold_seconds * interval '1 second', s.terms_version
    into strict v_limit, v_max_unpaid, v_hold, v_terms
    from sales s where s.sale_id = p_sale for no key update;
  perform 1 from products p where p.sale_id = p_sale and p.product_id = any(p_line_products)
    order by p.product_id for no key update;
  created_at := date_trunc('milliseconds', clock_timestamp());
  reserved_until := created_at + v_hold;
  recorded := 0;

  -- What each order would be stored as; null for an order without lines, whose wishes nothing fits.
  select array_agg(c.cart order by i), array_agg(c.first order by i), array_agg(c.price order by i),
      array_agg(c.currency order by i), array_agg(c.known order by i),
      array_agg(coalesce(c.changed or p_terms[i] <> v_terms, p_terms[i] <> v_terms, c.changed, false) order by i)
    into v_carts, v_first, v_price, v_currency, v_known, v_changed
  from generate_subscripts(p_ids, 1) i left join (
    select l.i as place, (array_agg(l.product order by l.n))[1] as first,
      (array_agg(coalesce(s.price_minor, p.unit_price_minor) order by l.n))[1] as price,
      (array_agg(p.currency order by l.n))[1] as currency,
      -- A seat may have been removed from the hall since its buyer chose it.
      bool_and(l.seat is null or s.seat_index is not null) as known,
      bool_or(l.price <> coalesce(s.price_minor, p.unit_price_minor)) as changed,
      case when p_stored[l.i] = 1 then jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'product', l.product, 'section', nullif(p.section_type is not null, false), 'seat', l.seat, 'seat_id',
            s.seat_id,
          'row', s.row, 'number', s.number, 'name', p.name, 'quantity', l.quantity,
          'unit_price_minor', coalesce(s.price_minor, p.unit_price_minor), 'share_minor', l.share))
            order by l.n) end as cart
    from unnest(p_line_orders, p_line_products, p_line_quantities, p_line_seats, p_line_prices,
      p_line_shares) with ordinality
      as l(i, product, quantity, seat, price, share, n)
    join products p on p.sale_id = p_sale and p.product_id = l.product
    left join seats s on s.sale_id = p_sale and s.seat_index = l.seat and s.section_id = l.product
    group by l.i
  ) c on c.place = i;
  select jsonb_object_agg(p.product_id, jsonb_build_object(
      'name', p.name, 'unit_price_minor', p.unit_price_minor, 'currency', p.currency))
    into prices from products p where p.sale_id = p_sale and p.product_id = any(p_line_products);

  -- The fast path: everything fits, each visitor comes once and without an order, and every seat is free.
  v_simple := v_limit >= all (p_quantities) and array_position(v_first, null) is null
    and array_position(v_known, false) is null
    and array_position(v_changed, true) is null
    and (select count(distinct v) from unnest(p_visitors) v) = cardinality(p_visitors)
    and not exists (select from findings f where f.sale_id = p_sale and f.kind = 'oversold' and f.closed_at is null)
    and not exists (select from orders o where o.sale_id = p_sale and o.visitor = any(p_visitors))
    and not exists (select from seat_claims c where c.sale_id = p_sale and c.seat_index = any(p_line_seats))
    and (select count(distinct s) = count(*) from unnest(p_line_seats) s where s is not null)
    and (select bool_and(coalesce(p.held + p.sold + w.units <= p.total - p.buffer, false))
         from (select a.product, sum(a.quantity) as units from unnest(p_line_products, p_line_quantities)
                 as a(product, quantity) group by a.product) w
         left join products p on p.sale_id = p_sale and p.product_id = w.product)
    and not exists (
      select from products p
      join unnest(p_line_orders, p_line_products, p_line_quantities) as l(i, product,
        quantity) on l.product = p.product_id
      where p.sale_id = p_sale and p.limit_per_visitor is not null
      group by l.i, coalesce(p.variant_of, p.product_id), p.limit_per_visitor
        having sum(l.quantity) > p.limit_per_visitor);
  if v_simple then
    insert into orders (order_id, number, sale_id, product_id, visitor, line, ticket_number, source, quantity,
      unit_price_minor, currency, cart,
                        bill, terms, status, idempotency_key, request_hash, payment_method, created_at, reserved_until)
    select unnest(p_ids), unnest(numbers), p_sale, unnest(v_first), unnest(p_visitors), unnest(p_lines),
      unnest(p_numbers), unnest(p_sources),
           unnest(p_quantities), unnest(v_price), unnest(v_currency), unnest(v_carts), unnest(p_bills),
             unnest(p_terms), 'reserved', unnest(p_keys),
           unnest(p_hashes), unnest(p_methods), record_carts.created_at, record_carts.reserved_until;
    get diagnostics recorded = row_count;
    insert into seat_claims (sale_id, seat_index, order_id)
    select p_sale, l.seat, p_ids[l.i] from unnest(p_line_orders, p_line_seats) as l(i, seat) where l.seat is not null;
    insert into events (xid, type, order_ids, status) values (event_xid(), 'order.reserved', p_ids, 'reserved');
    update products p set held = p.held + w.units
    from (select a.product, sum(a.quantity)::int as units
          from unnest(p_line_products, p_line_quantities) as a(product, quantity) group by a.product) w
    where p.sale_id = p_sale and p.product_id = w.product;
    select jsonb_object_agg(a.id, a.cart) into carts from unnest(p_ids, v_carts) as a(id, cart)
      where a.cart is not null;
    return;
  end if;

  -- One by one, each as it would be alone after those before it.
  carts := '{}';
  for v_one in
    select a.* from unnest(p_ids, p_visitors, p_lines, p_numbers, p_sources, p_quantities, p_keys, p_hashes,
      p_methods) with ordinality
      as a(id, visitor, line, number, source, quantity, key, hash, method, i) order by a.i
  loop
    v_verdict := 'recorded';
    v_order := null;
    v_had := null;
    v_taken := null;
    v_product := null;
    v_has_limits := p_box_office[v_one.i] = 0;
    declare
      has record;
    begin
      select count(*) as orders,
        (array_agg(o.order_id) filter (where o.idempotency_key = v_one.key))[1] as known,
        (array_agg(o.reason) filter (where o.idempotency_key = v_one.key || ' ' || v_one.id))[1] as noted,
        coalesce(sum(o.quantity) filter (where o.status in ('reserved', 'paying', 'confirmed', 'fulfilled',
          'refunded')), 0) as units,
        (array_agg(o.order_id order by o.created_at desc, o.order_id desc)
          filter (where o.status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'refunded')))[1] as live,
        (count(*) filter (where o.status = 'expired' or o.reason in ('given_back', 'not_authenticated'))
          + greatest(0, count(*) filter (where o.reason like 'declined%') - 1))::int as unpaid
        into has from orders o where o.sale_id = p_sale and o.visitor = v_one.visitor;
      if has.known is not null then
        v_verdict := 'replay';
        v_order := has.known;
      elsif has.noted is not null then
        v_verdict := has.noted;
        if v_verdict = 'limit' then v_order := has.live; v_had := has.units; end if;
        if v_verdict in ('no_stock', 'unpaid') then v_had := has.unpaid; end if;
      elsif v_has_limits and has.units + v_one.quantity > v_limit then
        v_verdict := 'limit';
        v_order := has.live;
        v_had := has.units;
      elsif v_has_limits and has.orders >= v_limit + greatest(c_max_failed, v_max_unpaid) then
        v_verdict := 'too_many';
      elsif v_changed[v_one.i] then
        v_verdict := 'price_changed';
      elsif v_first[v_one.i] is null or exists (
        select from unnest(p_line_orders, p_line_products) as l(i, product)
        where l.i = v_one.i and not exists (select from products p where p.sale_id = p_sale
          and p.product_id = l.product))
      then
        v_verdict := 'no_stock';
        v_had := has.unpaid;
      else
        select array_agg(l.seat) into v_taken
          from unnest(p_line_orders, p_line_products, p_line_seats) as l(i, product, seat)
          left join seats s on s.sale_id = p_sale and s.seat_index = l.seat and s.section_id = l.product
          left join seat_claims c on c.sale_id = p_sale and c.seat_index = l.seat
          where l.i = v_one.i and l.seat is not null and (s.seat_index is null or c.seat_index is not null);
        if v_taken is not null then
          v_verdict := 'seat_taken';
        else
          -- The first product of which too few units are left, or which the visitor may have no more of.
          select w.product,
              case when p.total - p.buffer - p.held - p.sold < w.units then 'no_stock'
                when of_kind.units > p.limit_per_visitor then 'limit'
                -- A code that is used up does not exhaust the stock: without the code the buyer may still have units.
                when p.is_promo_code then 'no_stock' else 'unpaid' end
            into v_product, v_verdict
          from (
            select l.product, sum(l.quantity)::int as units, min(l.n) as n
            from unnest(p_line_orders, p_line_products, p_line_quantities) with ordinality as l(i, product, quantity, n)
            where l.i = v_one.i group by l.product) w
          join products p on p.sale_id = p_sale and p.product_id = w.product
          -- What the visitor has and wants of it, and of the variants that share its limit.
          cross join lateral (
            select sum((
                select coalesce(sum(units_in(s.product_id, o.product_id, o.quantity, o.cart)), 0) from orders o
                where o.sale_id = p_sale and o.visitor = v_one.visitor
                  and o.status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'refunded')) + (
                select coalesce(sum(l.quantity), 0) from unnest(p_line_orders, p_line_products,
                  p_line_quantities) as l(i, product, quantity)
                where l.i = v_one.i and l.product = s.product_id)) as units
            from products s where p.limit_per_visitor is not null and s.sale_id = p_sale
              and coalesce(s.variant_of, s.product_id) = coalesce(p.variant_of, p.product_id)) of_kind
          where p.total - p.buffer - p.held - p.sold < w.units or v_has_limits and of_kind.units > p.limit_per_visitor
            or v_has_limits and has.unpaid > 0 and p.total - p.buffer - p.held - p.sold - w.units
              < p_demand[least(has.unpaid, cardinality(p_demand))]
          order by w.n limit 1;
          v_verdict := coalesce(v_verdict, 'recorded');
          if v_verdict in ('no_stock', 'unpaid') then v_had := has.unpaid; end if;
          if v_verdict = 'limit' then v_order := has.live; v_had := has.units; end if;
        end if;
      end if;
      v_written := v_verdict = 'recorded' or p_note_refusals and has.noted is null and has.known is distinct
        from v_one.id;
    end;
    if v_written then
      insert into orders (order_id, number, sale_id, product_id, visitor, line, ticket_number, source, quantity,
        unit_price_minor, currency, cart,
                          bill, terms, status, idempotency_key, request_hash, payment_method, created_at,
                            reserved_until, reason)
      -- The refusal of what fits nothing, or whose products were removed meanwhile, is noted without a price.
      values (v_one.id, numbers[v_one.i], p_sale, coalesce(v_first[v_one.i], (
          select l.product from unnest(p_line_orders, p_line_products) with ordinality as l(i, product, n)
          where l.i = v_one.i order by l.n limit 1), (select min(p.product_id) from products p
            where p.sale_id = p_sale), ''),
        v_one.visitor, v_one.line, v_one.number, v_one.source, v_one.quantity, coalesce(v_price[v_one.i], 0),
        coalesce(v_currency[v_one.i], (select min(p.currency) from products p where p.sale_id = p_sale), ''),
          v_carts[v_one.i], p_bills[v_one.i], p_terms[v_one.i], case when v_verdict = 'recorded' then 'reserved'
          else 'cancelled' end,
        case when v_verdict = 'recorded' then v_one.key else v_one.key || ' ' || v_one.id end, v_one.hash, v_one.method,
        record_carts.created_at,
        case when v_verdict = 'recorded' then record_carts.reserved_until else record_carts.created_at end,
        case v_verdict when 'unpaid' then 'too_many' else nullif(v_verdict, 'recorded') end);
      insert into events (xid, type, order_ids, status)
      select event_xid(), 'order.' || s.status, array[v_one.id], s.status
      from (select case when v_verdict = 'recorded' then 'reserved' else 'cancelled' end as status) s;
    end if;
    if v_verdict = 'recorded' then
      recorded := recorded + 1;
      insert into seat_claims (sale_id, seat_index, order_id)
      select p_sale, l.seat, v_one.id from unnest(p_line_orders, p_line_seats) as l(i, seat)
      where l.i = v_one.i and l.seat is not null;
      update products p set held = p.held + w.units
      from (select a.product, sum(a.quantity)::int as units
            from unnest(p_line_orders, p_line_products, p_line_quantities) as a(i, product, quantity)
            where a.i = v_one.i group by a.product) w
      where p.sale_id = p_sale and p.product_id = w.product;
      if v_carts[v_one.i] is not null then carts := carts || jsonb_build_object(v_one.id, v_carts[v_one.i]); end if;
    else
      others := coalesce(others, '[]') || jsonb_build_object('index', v_one.i, 'verdict', v_verdict, 'written',
        v_written, 'order', v_order,
        case v_verdict when 'limit' then 'units' else 'unpaid' end, v_had, 'seats', to_jsonb(v_taken), 'product',
          v_product);
    end if;
  end loop;
end $$;
