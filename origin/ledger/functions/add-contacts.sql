-- add_contacts: keeps how the buyers of orders can be reached, also of those that were written as refused; called
-- with what record_reservations or record_carts has returned, in the same statement. p_contacts: [{order_id, email,
-- delivery, address, language}]. Returns how many it kept. A sale without an end is taken to last a month; see
-- deleteContacts.
create or replace function add_contacts(
  p_contacts jsonb, p_sale text, p_ids uuid[], p_created_at timestamptz, p_others jsonb
) returns int
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  v_kept int;
begin
  insert into contacts (order_id, sale_id, email, delivery, address, language, delete_after)
  select c.order_id, p_sale, c.email, c.delivery, c.address, c.language,
    greatest(coalesce(s.ended_at, s.ends_at, p_created_at + interval '30 days'), p_created_at)
      + (s.contact ->> 'retention_days')::int * interval '1 day'
  from jsonb_to_recordset(p_contacts) as c(order_id uuid, email text, delivery jsonb, address text, language text)
  -- The join starts from the recorded ids: a plan made while the table was small would read all orders for each
  -- batch.
  join unnest(p_ids) with ordinality as a(id, i) on a.id = c.order_id
  join sales s on s.sale_id = p_sale
  where not exists (select from jsonb_array_elements(p_others) as o where (o ->> 'index')::int = a.i
    and not (o ->> 'written')::boolean)
  on conflict do nothing;
  get diagnostics v_kept = row_count;
  return v_kept;
end $$;
