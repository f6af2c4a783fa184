-- add_counts: the sums of two objects of numbers, name by name.
create or replace function add_counts(p_one jsonb, p_other jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(key, sum), '{}')
  from (select key, sum(value::numeric) as sum
        from (select * from jsonb_each_text(p_one) union all select * from jsonb_each_text(p_other)) each
        group by key) sums;
$$;
