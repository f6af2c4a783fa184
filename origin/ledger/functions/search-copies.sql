-- copy_order_texts: copies what these orders are found by: see order_texts. Notes and seats stand last, where
-- search_words looks for words in which a typing error is forgiven.
create or replace function copy_order_texts(ids uuid[]) returns void language sql as $$
  insert into order_texts as t (order_id, words)
  select o.order_id, lower(concat_ws(' ', '', o.sale_id, o.ticket_number, o.visitor,
    nullif(split_part(o.visitor, 'user:', 2), ''),
    o.charge_id, c.email, translate(c.address, '.:', 'xx'), n.notes,
    (select string_agg(l ->> 'seat_id', ' ' order by i)
      from jsonb_array_elements(o.cart) with ordinality as a(l, i)), ''))
  from orders o
  left join contacts c on c.order_id = o.order_id
  left join lateral (
    select regexp_replace(string_agg(text, ' ' order by note_id), '[^[:alnum:]@._:+-]+', ' ', 'g') as notes
    from order_notes where order_id = o.order_id) n on true
  where o.order_id = any(ids)
  on conflict (order_id) do update set words = excluded.words where t.words <> excluded.words
$$;

-- search_forgets_orders: the trigger that takes deleted orders out of the search.
create or replace function search_forgets_orders() returns trigger language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext('order search'));
  delete from order_search s using changed g where s.order_id = g.order_id;
  delete from order_search_products s using changed g where s.order_id = g.order_id;
  delete from order_texts t using changed g where t.order_id = g.order_id;
  return null;
end $$;
