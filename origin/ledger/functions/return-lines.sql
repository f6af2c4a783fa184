-- return_lines: takes lines out of an order, whose units and seats are for sale again. Returns the order in its new
-- state, or nothing if it does not allow it.
--
-- p_lines: their numbers, from 1; those that are out already change nothing. p_how: 'unpaid': out of a reserved
-- order, which must keep another line; nothing is charged for them. 'refunded': out of a sold one;
--   they count in what was paid. With the last of them the uses of promo codes come back, which are lines of the
--     cart, too; one that
--   comes back earlier is among p_lines.
-- p_type: the type of the event; null: the caller's change of the order writes one.
create or replace function return_lines(p_order uuid, p_lines int[], p_how text, p_type text) returns setof orders
language plpgsql as $$
declare
  v_order orders;
  v_cart jsonb;
  v_units int;
  v_left int;
  v_out bigint[];
begin
  perform 1 from products p
    where (p.sale_id, p.product_id) in (
      select o.sale_id, l ->> 'product' from orders o, jsonb_array_elements(o.cart) l where o.order_id = p_order)
    order by p.sale_id, p.product_id for no key update;
  select * into v_order from orders o where o.order_id = p_order for no key update;
  if v_order.cart is null
    or p_how = 'unpaid' and v_order.status <> 'reserved'
    or p_how = 'refunded' and v_order.status not in ('confirmed', 'fulfilled', 'refunded') then return; end if;

  select count(*) into v_left
  from jsonb_array_elements(v_order.cart) with ordinality as a(l, n)
  where not (a.n = any(p_lines) or a.l ? 'returned' or starts_with(a.l ->> 'product', '%'));
  select array_agg(a.n) filter (where a.is_out),
    sum((a.l ->> 'quantity')::int) filter (where a.is_out and not a.is_code),
      jsonb_agg(case when a.is_out then a.l || jsonb_build_object('returned', p_how) else a.l end order by a.n)
    into v_out, v_units, v_cart
  from (select a.l, a.n, c.is_code, (a.n = any(p_lines) or c.is_code and v_left = 0) and not a.l ? 'returned' as is_out
        from jsonb_array_elements(v_order.cart) with ordinality as a(l, n),
          starts_with(a.l ->> 'product', '%') as c(is_code)) a;
  if v_units is null or p_how = 'unpaid' and v_left = 0 then return; end if;

  -- The bounds as in advance_orders.
  update products p set
    held = greatest(0, p.held - case when p_how = 'unpaid' then d.units else 0 end),
    sold = greatest(0, p.sold - case when p_how = 'unpaid' then 0 else d.units end)
  from (
    select a.l ->> 'product' as product, sum((a.l ->> 'quantity')::int)::int as units
    from jsonb_array_elements(v_order.cart) with ordinality as a(l, n)
    where a.n = any(v_out) group by 1) d
  where p.sale_id = v_order.sale_id and p.product_id = d.product;
  delete from seat_claims c
    where c.order_id = p_order and c.sale_id = v_order.sale_id and c.seat_index in (
      select (a.l ->> 'seat')::int from jsonb_array_elements(v_order.cart) with ordinality as a(l, n)
        where a.n = any(v_out));
  if p_type is not null then
    insert into events (xid, type, order_id, status, data)
    values (event_xid(), p_type, p_order, v_order.status, jsonb_strip_nulls(jsonb_build_object('reason', v_order.reason,
      'lines', array(select n from unnest(p_lines) n where not starts_with(v_order.cart -> n - 1 ->> 'product', '%')),
      'attempts', nullif(v_order.attempts, 0), 'decline_code', v_order.decline_code,
      'refunded_minor', nullif(v_order.refunded_minor, 0))));
  end if;
  return query
    update orders o set cart = v_cart, quantity = o.quantity - v_units, updated_at = clock_timestamp()
    where o.order_id = p_order returning o.*;
end $$;
