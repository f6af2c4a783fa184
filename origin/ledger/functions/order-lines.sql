-- order_total: what an order costs in all, in minor units. p_cart: its lines (StoredLine), null for one line of
-- units. p_bill: what it costs beside them (BillLine), null for nothing. Lines that were taken out before it was paid
-- cost nothing; what was paid and given back counts.
create or replace function order_total(p_price bigint, p_quantity int, p_cart jsonb, p_bill jsonb)
returns bigint language sql immutable as $$
  select case when p_cart is null then p_price * p_quantity
    else (select coalesce(sum((l ->> 'unit_price_minor')::bigint * (l ->> 'quantity')::int), 0)::bigint
          from jsonb_array_elements(p_cart) l where l ->> 'returned' is distinct from 'unpaid') end
    + case when p_bill is null then 0
      else (select coalesce(sum((b ->> 'amount_minor')::bigint) filter (where not b ? 'included'), 0)
            from jsonb_array_elements(p_bill) b)::bigint end;
$$;

-- units_in: how many units of a product or places of a section an order has that are not returned.
create or replace function units_in(p_of text, p_product text, p_quantity int, p_cart jsonb)
returns int language sql immutable as $$
  select case when p_cart is null then case when p_product = p_of then p_quantity else 0 end
    else coalesce((select sum((l ->> 'quantity')::int) from jsonb_array_elements(p_cart) l
                   where l ->> 'product' = p_of and not l ? 'returned'), 0)::int end;
$$;
